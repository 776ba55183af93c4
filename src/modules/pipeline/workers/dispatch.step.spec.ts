import { claimedJob } from '../../../../test/fakes/claimed-job';
import { FakeClock } from '../../../../test/fakes/fake-clock';
import { FakeRecognizer, fails, Hold } from '../../../../test/fakes/fake-recognizer';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { AppError } from '../../../common/errors/app-error';
import { RunningSteps } from '../application/running-steps';
import type { StepOutcome } from '../application/step';
import type { ClaimedJob, Job } from '../domain/job';
import { DispatchStep } from './dispatch.step';

const SPEECH = 'recordings/x/speech-1.wav';

describe('DispatchStep', () => {
  let blobs: InMemoryBlobStore;
  let recognizer: FakeRecognizer;
  let step: DispatchStep;

  beforeEach(() => {
    blobs = new InMemoryBlobStore(new FakeClock());
    blobs.put(SPEECH, 'wav');
    recognizer = new FakeRecognizer();
    recognizer.ticket = { engine: 'openai', model: 'large', reference: 'job-7' };
    step = new DispatchStep(blobs, recognizer);
  });

  afterEach(() => {
    expect(blobs.copiesOut).toBe(0);
    blobs.dispose();
  });

  const job = (change: Partial<Job> = {}): Promise<ClaimedJob> =>
    claimedJob(
      'converted',
      { speechKey: SPEECH, durationSeconds: 12.5, ...change },
      { requestedLanguage: 'ru', prompt: 'Иванов' },
    );

  const perform = (
    claimed: ClaimedJob,
    signal = new AbortController().signal,
  ): Promise<StepOutcome> => step.perform(claimed, { signal, progress: () => undefined });

  it('works on converted jobs', () => {
    expect([step.worker, step.from]).toEqual(['dispatch', 'converted']);
  });

  it('hands in the audio with all that is known, and keeps the receipt', async () => {
    const claimed = await job();
    expect(await perform(claimed)).toMatchObject({
      kind: 'advance',
      result: { to: 'transcribe', engine: 'openai', model: 'large', engineReference: 'job-7' },
    });
    expect(recognizer.submitted).toEqual([
      {
        recordingId: claimed.id,
        audioPath: expect.any(String),
        durationSeconds: 12.5,
        language: 'ru',
        prompt: 'Иванов',
      },
    ]);
    expect(blobs.keys).toEqual([SPEECH]);
  });

  it('lets the engine forget the work when the receipt could not be written', async () => {
    const outcome = await perform(await job());
    if (outcome.kind !== 'advance') {
      throw new Error('expected a result');
    }
    expect(recognizer.forgotten).toEqual([]);
    await outcome.undo?.();
    expect(recognizer.forgotten).toEqual([recognizer.ticket]);
  });

  it.each(['engine_unavailable', 'model_missing', 'language_unsupported'] as const)(
    'hands on that the engine says %s',
    async (code) => {
      recognizer.onSubmit(fails(new AppError(code)));
      await expect(perform(await job())).rejects.toMatchObject({ code });
    },
  );

  it.each<[string, Partial<Job>]>([
    ['the row names none', { speechKey: null }],
    ['its length is unknown', { durationSeconds: null }],
    ['it is not stored', { speechKey: 'recordings/x/speech-2.wav' }],
  ])('says that the audio is missing when %s', async (_why, change) => {
    await expect(perform(await job(change))).rejects.toMatchObject({ code: 'audio_missing' });
    expect(recognizer.submitted).toEqual([]);
  });

  it('stops the engine when it is stopped', async () => {
    const hold = new Hold();
    recognizer.onSubmit(hold.behaviour());
    const claimed = await job();
    const running = new RunningSteps().enter(claimed.id);
    const work = perform(claimed, running.signal);
    await hold.entered;
    expect(blobs.copiesOut).toBe(1);
    running.stop('shutdown');
    await expect(work).rejects.toMatchObject({ reason: 'shutdown' });
    expect(recognizer.aborted).toBe(1);
  });
});
