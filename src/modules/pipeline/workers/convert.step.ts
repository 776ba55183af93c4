import type { AppConfig } from '../../../common/config/app-config';
import type { BlobStore, ScratchFile } from '../../../common/storage/blob-store.port';
import { Step, type StepContext, type StepOutcome } from '../application/step';
import { blobKeys, type ClaimedJob } from '../domain/job';
import { conversionProgress } from '../domain/progress';
import type { TranscriptWarning } from '../domain/transcript';
import type { MediaConverter } from '../media/media-converter.port';

/** Below this share of what the container claims, the recording counts as cut. */
const WHOLE_SHARE = 0.95;
/** Containers round, and codecs pad; short clips are not called cut for that. */
const ROUNDING_SECONDS = 1;

/** created -> converted: makes of what was sent what engines hear. */
export class ConvertStep extends Step {
  readonly worker = 'convert';
  readonly from = 'created';

  constructor(
    private readonly blobs: BlobStore,
    private readonly converter: MediaConverter,
    private readonly limits: AppConfig['limits'],
  ) {
    super();
  }

  async perform(job: ClaimedJob, context: StepContext): Promise<StepOutcome> {
    const original = await this.blobs.localCopy(blobKeys.original(job.id), context.signal);
    try {
      const scratch = await this.blobs.scratchFile('wav');
      try {
        return await this.convert(job, original.path, scratch, context);
      } finally {
        await scratch.discard();
      }
    } finally {
      await original.release();
    }
  }

  private async convert(
    job: ClaimedJob,
    inputPath: string,
    scratch: ScratchFile,
    context: StepContext,
  ): Promise<StepOutcome> {
    const maxSeconds = this.limits.recordingSeconds;
    const probe = await this.converter.probe(inputPath, context.signal);
    const { durationSeconds } = await this.converter.convert(
      { inputPath, outputPath: scratch.path, probe, maxSeconds },
      context.signal,
      ({ seconds }) => context.progress(conversionProgress(seconds, probe.durationSeconds)),
    );
    const speechKey = blobKeys.speech(job.claim);
    await (await scratch.adopt()).commit(speechKey);
    return {
      kind: 'advance',
      result: {
        to: 'converted',
        speechKey,
        durationSeconds,
        warnings: truncation(probe.durationSeconds, durationSeconds),
      },
      undo: () => this.blobs.delete(speechKey),
    };
  }
}

function truncation(claimed: number | null, decoded: number): TranscriptWarning[] {
  if (
    claimed === null ||
    decoded >= claimed * WHOLE_SHARE ||
    claimed - decoded < ROUNDING_SECONDS
  ) {
    return [];
  }
  return [
    {
      code: 'truncated_media',
      detail: `The file claims ${claimed.toFixed(1)} s, only ${decoded.toFixed(1)} s could be decoded`,
      start_s: decoded,
      end_s: claimed,
    },
  ];
}
