import { FakeClock, settle } from '../../../../test/fakes/fake-clock';
import { FakeLogFactory } from '../../../../test/fakes/fake-log';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { newJob, TestIds } from '../../../../test/fakes/test-jobs';
import { AppError } from '../../../common/errors/app-error';
import type { Job } from '../domain/job';
import { isTerminal, JOB_STATES } from '../domain/job-state';
import { PipelineEvents } from '../pipeline.events';
import { SpeechTidier } from './speech-tidier';

const SPEECH = 'recordings/x/speech-1.wav';
const ORIGINAL = 'recordings/x/original';

describe('SpeechTidier', () => {
  let blobs: InMemoryBlobStore;
  let events: PipelineEvents;
  let logs: FakeLogFactory;
  let tidier: SpeechTidier;
  let job: Job;

  beforeEach(async () => {
    const clock = new FakeClock();
    blobs = new InMemoryBlobStore(clock);
    events = new PipelineEvents();
    logs = new FakeLogFactory();
    tidier = new SpeechTidier(blobs, events, logs);
    const { job: made } = await new InMemoryJobRepository(clock).create(
      newJob(new TestIds().next()),
    );
    job = { ...made, speechKey: SPEECH };
    blobs.put(SPEECH);
    blobs.put(ORIGINAL);
  });

  afterEach(() => blobs.dispose());

  it.each(JOB_STATES)(
    'in %s, removes the converted audio only if the job has ended',
    async (state) => {
      events.tell('changed', { ...job, state });
      await tidier.stop();
      expect(blobs.keys).toEqual(isTerminal(state) ? [ORIGINAL] : [ORIGINAL, SPEECH]);
    },
  );

  it('has nothing to do for a job that never got so far', async () => {
    events.tell('changed', { ...job, state: 'failed', speechKey: null });
    await tidier.stop();
    expect(blobs.keys).toEqual([ORIGINAL, SPEECH]);
  });

  it('makes one record of a file that cannot be removed, and goes on', async () => {
    blobs.break('delete', new AppError('storage_unavailable', { cause: new Error('EIO') }));
    events.tell('changed', { ...job, state: 'done' });
    await tidier.stop();
    expect(logs.visible).toEqual([
      {
        context: 'pipeline',
        level: 'warn',
        message: 'converted audio not removed',
        fields: { job_id: job.id, code: 'storage_unavailable', reason: 'EIO' },
      },
    ]);
  });

  it('waits for removals under way when it stops, and does nothing afterwards', async () => {
    let removed: () => void = () => undefined;
    jest
      .spyOn(blobs, 'delete')
      .mockImplementation(() => new Promise<void>((resolve) => (removed = resolve)));
    events.tell('changed', { ...job, state: 'done' });
    let stopped = false;
    const stop = tidier.stop().then(() => (stopped = true));
    await settle();
    expect(stopped).toBe(false);
    removed();
    await stop;
    events.tell('changed', { ...job, state: 'done' });
    expect(blobs.delete).toHaveBeenCalledTimes(1);
  });
});
