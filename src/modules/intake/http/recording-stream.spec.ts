import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { FakeClock } from '../../../../test/fakes/fake-clock';
import { newJob } from '../../../../test/fakes/test-jobs';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import type { Job } from '../../pipeline';
import { RecordingStream } from './recording-stream';

/** A response whose client takes what it is given, or does not. */
class FakeResponse extends EventEmitter {
  text = '';
  writableEnded = false;
  takes = true;

  writeHead(): this {
    return this;
  }

  write(text: string): boolean {
    this.text += text;
    return this.takes;
  }

  end(): this {
    this.writableEnded = true;
    this.emit('close');
    return this;
  }
}

describe('RecordingStream', () => {
  let clock: FakeClock;
  let response: FakeResponse;
  let stream: RecordingStream;
  let ended: number;
  let job: Job;

  beforeEach(async () => {
    clock = new FakeClock();
    response = new FakeResponse();
    ended = 0;
    job = (await new InMemoryJobRepository(clock).create(newJob('id'))).job;
    stream = new RecordingStream(response as unknown as ServerResponse, clock, 0, () => {
      ended += 1;
    });
  });

  const events = (): string[] =>
    [...response.text.matchAll(/event: (\w+)/g)].map(([, name]) => name ?? '');
  const ids = (): number[] => [...response.text.matchAll(/id: (\d+)/g)].map(([, id]) => Number(id));

  it('tells a state once, however often it is shown', () => {
    stream.show(job);
    stream.show(job);
    expect(events()).toEqual(['state']);
  });

  it('ends with done in any terminal state, and then says nothing more', () => {
    stream.show(job);
    stream.show({ ...job, state: 'cancelled', updatedAt: job.updatedAt + 1 });
    stream.progress(0.9);
    expect(events()).toEqual(['state', 'state', 'done']);
    expect(response.writableEnded).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    expect(ended).toBeGreaterThan(0);
  });

  it('gives ids that grow, also behind the last one a client has seen', () => {
    const seen = clock.now() + 5000;
    const again = new RecordingStream(
      response as unknown as ServerResponse,
      clock,
      seen,
      () => undefined,
    );
    again.show(job);
    again.progress(0.5);
    expect(ids()).toEqual([seen + 1, seen + 2]);
  });

  it('keeps only what is newest for a client that does not take it', () => {
    response.takes = false;
    stream.show(job);
    for (let step = 1; step <= 1000; step += 1) {
      stream.progress(step / 1001);
    }
    expect(events()).toEqual(['state']);
    response.takes = true;
    response.emit('drain');
    expect(events()).toEqual(['state', 'progress']);
    expect(response.text).toContain('{"progress":0.999}');
  });

  it('gives a sign of life at least every 15 seconds', async () => {
    await clock.advance(15_000);
    expect(response.text).toContain(': still here\n\n');
  });

  it('lets go of everything when the client leaves', async () => {
    response.emit('close');
    expect(clock.pendingTimers).toBe(0);
    stream.show(job);
    expect(events()).toEqual([]);
    expect(ended).toBe(1);
  });
});
