import type { Readable } from 'node:stream';
import { AppError } from '../../../common/errors/app-error';
import { failureFields, type Log, type LogFactory } from '../../../common/logging/log';
import type { BlobStore, ByteRange } from '../../../common/storage/blob-store.port';
import type { LeftoverJournal } from '../../../common/storage/leftover-journal.port';
import { blobKeys, type Job, type NewJob } from '../domain/job';
import type { Transcript } from '../domain/transcript';
import type { JobFilter, JobRepository } from '../persistence/job.repository.port';
import type { PipelineEvents } from '../pipeline.events';
import type { RunningSteps } from './running-steps';

export interface JobPage {
  readonly jobs: readonly Job[];
  /** Id to continue after, or null at the end. */
  readonly next: string | null;
}

/** All that other modules may ask of the pipeline. */
export class PipelineFacade {
  private readonly log: Log;

  constructor(
    private readonly repository: JobRepository,
    private readonly blobs: BlobStore,
    private readonly running: RunningSteps,
    private readonly events: PipelineEvents,
    private readonly journal: LeftoverJournal,
    logs: LogFactory,
  ) {
    this.log = logs.for('pipeline');
  }

  /** To be called before the bytes of a new recording are put under `blobKeys.original(id)`. */
  async announce(id: string): Promise<void> {
    await this.journal.note(id);
  }

  /** Adds an announced recording whose bytes are stored; see {@link JobRepository.create}. */
  async create(job: NewJob): Promise<{ readonly job: Job; readonly created: boolean }> {
    const result = await this.repository.create(job);
    if (result.created) {
      await this.forgetNote(job.id);
      this.events.tell('changed', result.job);
    }
    return result;
  }

  /**
   * Finds out whether an announced recording has got its row, and removes its bytes when it has not.
   * @throws AppError `storage_unavailable` while nobody can say
   */
  async settle(id: string): Promise<void> {
    if ((await this.repository.find(id)) === null) {
      await this.withdraw(id);
    } else {
      await this.forgetNote(id);
    }
  }

  /** Removes the bytes of an announced recording that got no row. */
  async withdraw(id: string): Promise<void> {
    await this.blobs.delete(blobKeys.original(id));
    await this.forgetNote(id);
  }

  /** @throws AppError `not_found` */
  async get(id: string): Promise<Job> {
    const job = await this.repository.find(id);
    if (job === null) {
      throw new AppError('not_found', { detail: 'There is no recording with this id' });
    }
    return job;
  }

  async list(filter: JobFilter, limit: number, before: string | null): Promise<JobPage> {
    const jobs = await this.repository.list(filter, limit + 1, before);
    const page = jobs.slice(0, limit);
    return { jobs: page, next: jobs.length > limit ? (page.at(-1)?.id ?? null) : null };
  }

  /** @throws AppError `not_found`, `not_ready` (still working), `no_transcript` (ended without one) */
  async transcript(id: string): Promise<Transcript> {
    const job = await this.get(id);
    const transcript = job.state === 'done' ? await this.repository.transcript(id) : null;
    if (transcript !== null) {
      return transcript;
    }
    switch (job.state) {
      case 'failed':
      case 'dead':
        throw new AppError('no_transcript', {
          detail: `The recording is ${job.state}: ${job.error?.code ?? 'internal'}`,
        });
      case 'cancelled':
        throw new AppError('no_transcript', { detail: 'The recording was cancelled' });
      case 'done':
        throw new AppError('no_transcript', { detail: 'The text is no longer kept' });
      case 'created':
      case 'converted':
      case 'transcribe':
        throw new AppError('not_ready', { detail: `The recording is in state ${job.state}` });
    }
  }

  /** Size of the original in bytes. @throws AppError `not_found`, `audio_expired` */
  async audioSize(id: string): Promise<{ readonly job: Job; readonly sizeBytes: number }> {
    const job = await this.get(id);
    const sizeBytes = await this.blobs.size(blobKeys.original(id));
    if (sizeBytes === null) {
      throw new AppError('audio_expired');
    }
    return { job, sizeBytes };
  }

  async readAudio(id: string, range?: ByteRange): Promise<Readable> {
    return this.blobs.read(blobKeys.original(id), range);
  }

  /** @throws AppError `not_found`, `not_retryable` */
  async retry(id: string): Promise<Job> {
    return this.change(id, await this.repository.retry(id), 'not_retryable');
  }

  /** Calls the recording off; its running step stops. @throws AppError `not_found`, `not_cancellable` */
  async cancel(id: string): Promise<Job> {
    const job = await this.repository.cancel(id);
    if (job !== null) {
      this.running.stop(id, 'cancelled');
    }
    return this.change(id, job, 'not_cancellable');
  }

  /** Removes row, transcript and audio. @throws AppError `not_found` */
  async delete(id: string): Promise<void> {
    await this.get(id);
    await this.journal.note(id);
    const job = await this.repository.delete(id);
    if (job === null) {
      throw new AppError('not_found', { detail: 'There is no recording with this id' });
    }
    this.running.stop(id, 'deleted');
    this.events.tell('deleted', job);
    // Row first: a crash in between leaves files that the next start sweeps, never a row without audio.
    await this.blobs.delete(blobKeys.original(id));
    if (job.speechKey !== null) {
      await this.blobs.delete(job.speechKey);
    }
    await this.forgetNote(id);
  }

  /** What is true is saved already; a note that stays is looked at, and taken back, at the next start. */
  private async forgetNote(id: string): Promise<void> {
    try {
      await this.journal.clear(id);
    } catch (error) {
      this.log.warn('note of a finished change not removed', {
        job_id: id,
        ...failureFields(error),
      });
    }
  }

  private async change(
    id: string,
    job: Job | null,
    refusal: 'not_retryable' | 'not_cancellable',
  ): Promise<Job> {
    if (job === null) {
      const { state } = await this.get(id);
      throw new AppError(refusal, { detail: `The recording is ${state}` });
    }
    this.events.tell('changed', job);
    return job;
  }
}
