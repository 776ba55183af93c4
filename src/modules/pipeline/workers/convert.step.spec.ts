import { claimedJob } from '../../../../test/fakes/claimed-job';
import { FakeClock } from '../../../../test/fakes/fake-clock';
import { FakeMediaConverter } from '../../../../test/fakes/fake-media-converter';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { AppError } from '../../../common/errors/app-error';
import { RunningSteps } from '../application/running-steps';
import type { StepOutcome } from '../application/step';
import { blobKeys, type ClaimedJob } from '../domain/job';
import { ConvertStep } from './convert.step';

const LIMITS = { uploadBytes: 1000, recordingSeconds: 60 };

describe('ConvertStep', () => {
  let blobs: InMemoryBlobStore;
  let converter: FakeMediaConverter;
  let step: ConvertStep;
  let job: ClaimedJob;
  let original: string;
  let speech: string;
  let progress: number[];

  beforeEach(async () => {
    blobs = new InMemoryBlobStore(new FakeClock());
    converter = new FakeMediaConverter();
    step = new ConvertStep(blobs, converter, LIMITS);
    job = await claimedJob('created');
    original = blobKeys.original(job.id);
    speech = blobKeys.speech(job.claim);
    blobs.put(original, 'opus');
    progress = [];
  });

  // Whatever happens: nothing borrowed stays out, nothing half written stays behind.
  afterEach(async () => {
    expect(blobs.copiesOut).toBe(0);
    expect(await blobs.scratchFiles()).toEqual([]);
    blobs.dispose();
  });

  const perform = (signal = new AbortController().signal): Promise<StepOutcome> =>
    step.perform(job, { signal, progress: (share) => progress.push(share) });

  it('works on created jobs', () => {
    expect([step.worker, step.from]).toEqual(['convert', 'created']);
  });

  it("stores the converted audio under the claim's own name and leaves the original", async () => {
    const outcome = await perform();
    expect(outcome).toMatchObject({
      kind: 'advance',
      result: { to: 'converted', speechKey: speech, durationSeconds: 10, warnings: [] },
    });
    expect(blobs.keys).toEqual([original, speech].sort());
    expect(blobs.blobs.get(speech)?.bytes.toString()).toBe('wav of opus');
    expect(blobs.blobs.get(original)?.bytes.toString()).toBe('opus');
    expect(converter.requests).toEqual([
      {
        inputPath: expect.any(String),
        outputPath: expect.stringMatching(/\.wav$/),
        probe: converter.probed,
        maxSeconds: 60,
      },
    ]);
  });

  it('takes back what it stored when the result could not be written', async () => {
    const outcome = await perform();
    if (outcome.kind !== 'advance') {
      throw new Error('expected a result');
    }
    await outcome.undo?.();
    expect(blobs.keys).toEqual([original]);
  });

  it('tells its share of the progress', async () => {
    converter.reports = [2.5, 5, 10, 12];
    await perform();
    expect(progress.map((share) => Number(share.toFixed(3)))).toEqual([0.025, 0.05, 0.1, 0.1]);
  });

  it('tells no progress it cannot know', async () => {
    converter.probed = { ...converter.probed, durationSeconds: null };
    converter.reports = [5];
    await perform();
    expect(progress).toEqual([0]);
  });

  it.each([
    [100, 94, true],
    [100, 95, false],
    [100, 100.5, false],
    [10, 9.2, false],
    [3, 1.9, true],
    [0.5, 0.1, false],
    [null, 5, false],
  ])(
    'Scenario: media that breaks off is transcribed as far as it goes, with a warning: of %s s claimed, %s s decoded: cut is %s',
    async (claimed, decoded, cut) => {
      step = new ConvertStep(blobs, converter, { ...LIMITS, recordingSeconds: 1000 });
      converter.probed = { ...converter.probed, durationSeconds: claimed };
      converter.durationSeconds = decoded;
      const outcome = await perform();
      const warnings =
        outcome.kind === 'advance' && outcome.result.to === 'converted'
          ? outcome.result.warnings
          : undefined;
      expect(warnings).toEqual(
        cut
          ? [
              {
                code: 'truncated_media',
                detail: expect.any(String),
                start_s: decoded,
                end_s: claimed,
              },
            ]
          : [],
      );
    },
  );

  it.each(['not_media', 'no_audio_stream', 'converter_unavailable'] as const)(
    'hands on that the probe says %s',
    async (code) => {
      converter.failure = { on: 'probe', error: new AppError(code) };
      await expect(perform()).rejects.toMatchObject({ code });
      expect(blobs.keys).toEqual([original]);
    },
  );

  it.each(['corrupt_media', 'conversion_timeout', 'storage_full'] as const)(
    'hands on that the conversion says %s, and removes what was half written',
    async (code) => {
      converter.failure = { on: 'convert', error: new AppError(code) };
      await expect(perform()).rejects.toMatchObject({ code });
      expect(blobs.keys).toEqual([original]);
    },
  );

  it('stops in the middle and leaves nothing', async () => {
    const running = new RunningSteps().enter(job.id);
    converter.midway = async () => running.stop('cancelled');
    await expect(perform(running.signal)).rejects.toMatchObject({ reason: 'cancelled' });
    expect(blobs.keys).toEqual([original]);
  });

  it('says that the stored audio is gone', async () => {
    await blobs.delete(original);
    await expect(perform()).rejects.toMatchObject({ code: 'audio_missing' });
  });

  it.each(['scratchFile', 'commit'] as const)('gives all back when %s fails', async (method) => {
    blobs.break(method, new AppError('storage_full'));
    await expect(perform()).rejects.toMatchObject({ code: 'storage_full' });
    expect(blobs.keys).toEqual([original]);
  });
});
