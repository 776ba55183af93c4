import { FakeClock, settle } from '../../../test/fakes/fake-clock';
import { WorkerLoop } from './worker-loop';

type Answer = 'worked' | 'idle' | Error;

/** Runs that the test ends by hand, in the order they began. */
class Runs {
  started = 0;
  private readonly open: ((answer: Answer) => void)[] = [];

  readonly run = (): Promise<'worked' | 'idle'> => {
    this.started += 1;
    return new Promise((resolve, reject) => {
      this.open.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  };

  get underWay(): number {
    return this.open.length;
  }

  async end(answer: Answer): Promise<void> {
    const run = this.open.shift();
    if (run === undefined) {
      throw new Error('no run is under way');
    }
    run(answer);
    await settle();
  }
}

describe('WorkerLoop', () => {
  let clock: FakeClock;
  let runs: Runs;
  let failures: { error: unknown; pauseMs: number }[];

  beforeEach(() => {
    clock = new FakeClock();
    runs = new Runs();
    failures = [];
  });

  const loopOf = (concurrency: number): WorkerLoop =>
    new WorkerLoop({
      clock,
      concurrency,
      pauseMs: 1000,
      run: runs.run,
      onFailure: (error, pauseMs) => failures.push({ error, pauseMs }),
    });

  it('does nothing until it is woken', async () => {
    loopOf(1);
    await settle();
    expect(runs.started).toBe(0);
  });

  it('goes on while there is work, and rests when there is none', async () => {
    loopOf(1).wake();
    await runs.end('worked');
    await runs.end('worked');
    expect(runs.underWay).toBe(1);
    await runs.end('idle');
    expect(runs.underWay).toBe(0);
    expect(runs.started).toBe(3);
  });

  it('never has more runs under way than it may', async () => {
    const loop = loopOf(3);
    for (let wake = 0; wake < 10; wake += 1) {
      loop.wake();
    }
    expect(runs.underWay).toBe(3);
    await runs.end('worked');
    expect(runs.underWay).toBe(3);
  });

  it('lets a free slot look as soon as one has found work', async () => {
    loopOf(3).wake();
    expect(runs.underWay).toBe(1);
    await runs.end('worked');
    expect(runs.underWay).toBe(2);
    await runs.end('worked');
    expect(runs.underWay).toBe(3);
  });

  it('Scenario: a wake-up during a run is not lost: also when all slots were busy', async () => {
    const loop = loopOf(1);
    loop.wake();
    loop.wake();
    loop.wake();
    await runs.end('idle');
    expect(runs.underWay).toBe(1);
    await runs.end('idle'); // three wake-ups, one further look
    expect(runs.underWay).toBe(0);
    expect(runs.started).toBe(2);
  });

  it('does not lose a wake-up when its last slots end together', async () => {
    const loop = loopOf(2);
    loop.wake();
    loop.wake();
    loop.wake();
    const both = [runs.end('idle'), runs.end('idle')];
    await Promise.all(both);
    expect(runs.underWay).toBeGreaterThanOrEqual(1);
  });

  it('pauses after a failed run, longer with each failure in a row, up to a minute', async () => {
    const loop = loopOf(1);
    const pauses: number[] = [];
    for (let failure = 0; failure < 9; failure += 1) {
      loop.wake();
      await runs.end(new Error('disk'));
      const pause = failures.at(-1)?.pauseMs ?? 0;
      pauses.push(pause);
      await clock.advance(pause - 1);
      loop.wake();
      expect(runs.underWay).toBe(0);
      await clock.advance(1);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(failures).toHaveLength(9);
    expect(failures[0]?.error).toEqual(new Error('disk'));
  });

  it('begins with a short pause again after a run that could look', async () => {
    const loop = loopOf(1);
    loop.wake();
    await runs.end(new Error('disk'));
    await clock.advance(1000);
    loop.wake();
    await runs.end(new Error('disk'));
    await clock.advance(2000);
    loop.wake();
    await runs.end('idle');
    loop.wake();
    await runs.end(new Error('disk'));
    expect(failures.map(({ pauseMs }) => pauseMs)).toEqual([1000, 2000, 1000]);
  });

  it('does not look at once for a wake-up that came during a run that failed', async () => {
    const loop = loopOf(1);
    loop.wake();
    loop.wake();
    await runs.end(new Error('disk'));
    expect(runs.underWay).toBe(0);
  });

  it('grows its pause once when several slots meet the same failure', async () => {
    const loop = loopOf(3);
    loop.wake();
    loop.wake();
    loop.wake();
    await runs.end(new Error('disk'));
    await runs.end(new Error('disk'));
    await runs.end(new Error('disk'));
    expect(failures).toEqual([{ error: new Error('disk'), pauseMs: 1000 }]);
    await clock.advance(1000);
    loop.wake();
    expect(runs.underWay).toBe(1);
  });

  it('stops: takes no further run and waits for those under way', async () => {
    const loop = loopOf(2);
    loop.wake();
    loop.wake();
    let stopped = false;
    const stop = loop.stop().then(() => (stopped = true));
    loop.wake();
    await runs.end('worked');
    expect(stopped).toBe(false);
    await runs.end('worked');
    await stop;
    expect(runs.started).toBe(2);
    loop.wake();
    await settle();
    expect(runs.started).toBe(2);
  });

  it('stops at once when nothing is under way', async () => {
    await loopOf(1).stop();
    expect(runs.started).toBe(0);
  });
});
