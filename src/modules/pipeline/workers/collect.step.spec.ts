import { claimedJob } from '../../../../test/fakes/claimed-job';
import { FakeClock, settle } from '../../../../test/fakes/fake-clock';
import {
  answers,
  FakeRecognizer,
  fails,
  Hold,
  pending,
  reports,
  resultOf,
} from '../../../../test/fakes/fake-recognizer';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { AppError } from '../../../common/errors/app-error';
import { RunningSteps } from '../application/running-steps';
import type { StepOutcome } from '../application/step';
import type { ClaimedJob, Job } from '../domain/job';
import { CollectStep } from './collect.step';

const SPEECH = 'recordings/x/speech-1.wav';

describe('CollectStep', () => {
  let clock: FakeClock;
  let blobs: InMemoryBlobStore;
  let recognizer: FakeRecognizer;
  let step: CollectStep;
  let progress: number[];

  beforeEach(() => {
    clock = new FakeClock();
    blobs = new InMemoryBlobStore(clock);
    blobs.put(SPEECH, 'wav');
    recognizer = new FakeRecognizer();
    progress = [];
    step = new CollectStep(blobs, recognizer);
  });

  afterEach(() => {
    expect(blobs.copiesOut).toBe(0);
    blobs.dispose();
  });

  const job = (change: Partial<Job> = {}): Promise<ClaimedJob> =>
    claimedJob('transcribe', {
      speechKey: SPEECH,
      durationSeconds: 12.5,
      engine: 'openai',
      model: 'large',
      engineReference: 'job-7',
      ...change,
    });

  const perform = (
    claimed: ClaimedJob,
    signal = new AbortController().signal,
  ): Promise<StepOutcome> =>
    step.perform(claimed, { signal, progress: (share) => progress.push(share) });

  it('works on jobs in transcribe', () => {
    expect([step.worker, step.from]).toEqual(['collect', 'transcribe']);
  });

  it('fetches with the receipt from the row and makes the transcript', async () => {
    recognizer.onCollect(answers(resultOf('turn on the lights')));
    const claimed = await job();
    expect(await perform(claimed)).toMatchObject({
      kind: 'advance',
      result: {
        to: 'done',
        transcript: {
          recording_id: claimed.id,
          text: 'turn on the lights',
          duration_s: 12.5,
          engine: 'openai',
          model: 'large',
        },
      },
    });
    expect(recognizer.collected).toMatchObject([
      {
        ticket: { engine: 'openai', model: 'large', reference: 'job-7' },
        request: { recordingId: claimed.id, durationSeconds: 12.5 },
      },
    ]);
  });

  it('takes silence for a result', async () => {
    recognizer.onCollect(answers(resultOf('')));
    expect(await perform(await job())).toMatchObject({
      result: { to: 'done', transcript: { text: '', segments: [] } },
    });
  });

  it('waits for work that goes on elsewhere', async () => {
    recognizer.onCollect(pending(30_000, 0.5), pending(5000));
    const half = await perform(await job());
    expect(half).toEqual({
      kind: 'wait',
      checkAfterMs: 30_000,
      progress: expect.closeTo(0.1 + 0.9 * 0.5 * 0.99, 6),
    });
    expect(await perform(await job())).toEqual({
      kind: 'wait',
      checkAfterMs: 5000,
      progress: null,
    });
  });

  it('tells progress between the conversion and done, which alone is 1', async () => {
    recognizer.onCollect(reports([0, 0.5, 1, 7, -1]));
    await perform(await job());
    expect(progress.map((share) => Number(share.toFixed(4)))).toEqual([
      0.1, 0.5455, 0.991, 0.991, 0.1,
    ]);
  });

  it.each(['engine_failed', 'engine_timeout', 'engine_unavailable'] as const)(
    'hands on that the engine says %s',
    async (code) => {
      recognizer.onCollect(fails(new AppError(code)));
      await expect(perform(await job())).rejects.toMatchObject({ code });
    },
  );

  it.each<[string, Partial<Job>]>([
    ['an engine of another version', { engine: 'whisper-9000' }],
    ['no engine', { engine: null }],
    ['no model', { model: null }],
  ])('cannot fetch from %s', async (_what, change) => {
    await expect(perform(await job(change))).rejects.toMatchObject({
      code: 'engine_unavailable',
    });
    expect(recognizer.collected).toEqual([]);
  });

  it('says that the converted audio is gone', async () => {
    await blobs.delete(SPEECH);
    await expect(perform(await job())).rejects.toMatchObject({ code: 'audio_missing' });
  });

  it('stops the engine when it is stopped', async () => {
    const hold = new Hold();
    recognizer.onCollect(hold.behaviour());
    const claimed = await job();
    const running = new RunningSteps().enter(claimed.id);
    const work = perform(claimed, running.signal);
    await hold.entered;
    running.stop('deleted');
    await expect(work).rejects.toMatchObject({ reason: 'deleted' });
    await settle();
    expect(recognizer.aborted).toBe(1);
  });
});
