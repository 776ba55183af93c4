import { AppError } from '../../../common/errors/app-error';
import type { Log, LogFactory } from '../../../common/logging/log';
import type { StagedBlob } from '../../../common/storage/blob-store.port';
import { blobKeys, type Job, type PipelineFacade, type Source } from '../../pipeline';
import type { DoubtfulRecordings } from './doubtful-recordings';
import { newRecordingId } from './recording-id';

export interface OfferedRecording {
  readonly staged: StagedBlob;
  readonly source: Source;
  readonly sender: string;
  readonly filename: string;
  readonly mediaType: string;
  readonly language: string | null;
  readonly prompt: string | null;
  readonly idempotencyKey: string | null;
}

/**
 * Takes a recording in for good: first the bytes are durable under their key, then the row is
 * committed; only then is it accepted. Used by every way in.
 */
export class AcceptRecordingService {
  private readonly log: Log;

  constructor(
    private readonly pipeline: PipelineFacade,
    private readonly doubts: DoubtfulRecordings,
    logs: LogFactory,
  ) {
    this.log = logs.for('intake');
  }

  /**
   * @returns the recording, and whether it is new (an idempotency key may have brought it before)
   * @throws AppError `empty_file`, `idempotency_conflict`, `storage_full`, `storage_unavailable`; then
   * nothing stays behind
   */
  async accept(offered: OfferedRecording): Promise<{ job: Job; created: boolean }> {
    const { staged } = offered;
    if (staged.sizeBytes === 0) {
      await staged.discard();
      throw new AppError('empty_file');
    }
    const id = newRecordingId();
    const key = blobKeys.original(id);
    try {
      await this.pipeline.announce(id);
      await staged.commit(key);
    } catch (error) {
      await staged.discard();
      // The bytes may have got their name before the failure.
      await this.pipeline.withdraw(id).catch(() => this.doubts.add(id));
      throw error;
    }
    const answer = await this.create(id, offered);
    if (!answer.created) {
      await this.pipeline.withdraw(id);
      refuseOther(answer.job, offered);
      return answer;
    }
    this.log.info('recording accepted', {
      job_id: id,
      source: offered.source,
      size_bytes: staged.sizeBytes,
    });
    return answer;
  }

  private async create(
    id: string,
    { staged, language, ...offered }: OfferedRecording,
  ): Promise<{ job: Job; created: boolean }> {
    try {
      return await this.pipeline.create({
        id,
        source: offered.source,
        sender: offered.sender,
        idempotencyKey: offered.idempotencyKey,
        filename: offered.filename,
        mediaType: offered.mediaType,
        sizeBytes: staged.sizeBytes,
        sha256: staged.sha256,
        requestedLanguage: language,
        prompt: offered.prompt,
      });
    } catch (error) {
      // A commit whose answer was lost may still have happened: the row decides about the bytes.
      await this.pipeline.settle(id).catch(() => this.doubts.add(id));
      throw error;
    }
  }
}

function refuseOther(job: Job, offered: OfferedRecording): void {
  const same =
    job.sha256 === offered.staged.sha256 &&
    job.requestedLanguage === offered.language &&
    job.prompt === offered.prompt;
  if (!same) {
    throw new AppError('idempotency_conflict');
  }
}
