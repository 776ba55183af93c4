import { failureFields, type Log, type LogFactory } from '../../../common/logging/log';
import type { BlobStore } from '../../../common/storage/blob-store.port';
import type { Job } from '../domain/job';
import { isTerminal } from '../domain/job-state';
import type { PipelineEvents } from '../pipeline.events';

/** Removes the converted audio of a job that has ended: nobody will listen to it any more. */
export class SpeechTidier {
  private readonly log: Log;
  private readonly unsubscribe: () => void;
  private readonly removals = new Set<Promise<void>>();

  constructor(
    private readonly blobs: BlobStore,
    events: PipelineEvents,
    logs: LogFactory,
  ) {
    this.log = logs.for('pipeline');
    this.unsubscribe = events.on('changed', (job) => {
      if (isTerminal(job.state) && job.speechKey !== null) {
        const removal = this.remove(job, job.speechKey).finally(() =>
          this.removals.delete(removal),
        );
        this.removals.add(removal);
      }
    });
  }

  /** Waits for removals under way. */
  async stop(): Promise<void> {
    this.unsubscribe();
    await Promise.all(this.removals);
  }

  private async remove(job: Job, speechKey: string): Promise<void> {
    try {
      await this.blobs.delete(speechKey);
    } catch (error) {
      // Not the step's failure: the next start sweeps the file.
      this.log.warn('converted audio not removed', { job_id: job.id, ...failureFields(error) });
    }
  }
}
