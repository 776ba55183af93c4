import type { Clock } from '../../../common/clock/clock';
import type { Job } from '../domain/job';
import type { JobRepository } from '../persistence/job.repository.port';

/** Pause between tries while the storage does not answer. */
const RETRY_MS = 500;

/** What became of a holder's write. */
export type Settled =
  | { readonly kind: 'saved'; readonly job: Job }
  /** The guard did not hold: the claim is somebody else's, or the recording was called off. */
  | { readonly kind: 'refused' }
  /** The storage gave no answer; `certain` when it is known that nothing was written. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly certain: boolean };

/**
 * Writes what a holder has to say about its job, for as long as a claim may last: a result is not
 * thrown away for a busy disk. A try whose answer was lost on the way may have been carried out all
 * the same; then the next try is refused, although the result stands in the row. So, whenever a try
 * failed, the row has the last word.
 */
export class ClaimWriter {
  constructor(
    private readonly repository: JobRepository,
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {}

  /** @param stands does this row already say what is to be written? */
  async write(
    jobId: string,
    write: () => Promise<Job | null>,
    stands: (job: Job) => boolean,
  ): Promise<Settled> {
    const deadline = this.clock.monotonic() + this.patienceMs;
    let failed = false;
    for (;;) {
      try {
        const job = await write();
        if (job !== null) {
          return { kind: 'saved', job };
        }
        return failed ? await this.look(jobId, stands) : { kind: 'refused' };
      } catch (error) {
        failed = true;
        if (this.clock.monotonic() + RETRY_MS > deadline) {
          return this.giveUp(jobId, stands, error);
        }
      }
      await this.clock.sleep(RETRY_MS);
    }
  }

  private async look(jobId: string, stands: (job: Job) => boolean): Promise<Settled> {
    const job = await this.repository.find(jobId);
    return job !== null && stands(job) ? { kind: 'saved', job } : { kind: 'refused' };
  }

  private async giveUp(
    jobId: string,
    stands: (job: Job) => boolean,
    error: unknown,
  ): Promise<Settled> {
    try {
      const seen = await this.look(jobId, stands);
      return seen.kind === 'saved' ? seen : { kind: 'failed', error, certain: true };
    } catch {
      return { kind: 'failed', error, certain: false };
    }
  }
}
