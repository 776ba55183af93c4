import type { ErrorCode } from '../../../common/errors/error-registry';
import type { PollId } from '../../../common/errors/noop';
import type { Claim, ClaimedJob, Job, JobError, NewJob, Source } from '../domain/job';
import type { JobState, WorkingState } from '../domain/job-state';
import type { Transcript, TranscriptWarning } from '../domain/transcript';

/** What a finished step adds to the row, by the state it led to. */
export type StepResult =
  | {
      readonly to: 'converted';
      readonly speechKey: string;
      readonly durationSeconds: number;
      readonly warnings: readonly TranscriptWarning[];
    }
  | {
      readonly to: 'transcribe';
      readonly engine: string;
      readonly model: string;
      readonly engineReference: string;
    }
  | { readonly to: 'done'; readonly transcript: Transcript };

export type PollAnswer =
  | { readonly kind: 'claimed'; readonly job: ClaimedJob }
  /** A job whose attempts were all spent on crashes or that nobody may try any more: now `dead`. */
  | { readonly kind: 'buried'; readonly job: Job };

export interface JobFilter {
  readonly state?: JobState;
  readonly source?: Source;
}

export interface QueueDepth {
  readonly state: JobState;
  readonly count: number;
  /** Creation time of the oldest job in the state, milliseconds since the epoch. */
  readonly oldestCreatedAt: number;
}

/**
 * The durable queue. Every method that changes a queue column is one atomic statement guarded by id,
 * state and, for a holder, the claim token; `false` or null means the guard did not hold and nothing
 * was changed. Every adapter passes test/contracts/job-repository.contract.ts.
 *
 * All methods throw AppError `storage_unavailable` or `storage_full`.
 */
export abstract class JobRepository {
  /**
   * Adds a job in `created`. With an idempotency key that the sender has used before, adds nothing
   * and answers the job made then.
   */
  abstract create(job: NewJob): Promise<{ readonly job: Job; readonly created: boolean }>;

  abstract find(id: string): Promise<Job | null>;

  /** Newest first; `before` is the id of the last one seen. */
  abstract list(filter: JobFilter, limit: number, before: string | null): Promise<readonly Job[]>;

  /** Of a job that is `done`, else null. */
  abstract transcript(id: string): Promise<Transcript | null>;

  /** Which of these ids exist, each with the key of the converted audio it still needs. */
  abstract existing(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>>;

  /**
   * Claims the job that is due longest: sets token and expiry, counts the attempt. A claim that has
   * expired is there for the taking. A poll that finds nothing takes no write lock.
   * @throws NoopError with `poll` inside when there is no work: the one place where it is born
   */
  abstract poll(
    state: WorkingState,
    poll: PollId,
    claimTtlMs: number,
    maxAttempts: number,
  ): Promise<PollAnswer>;

  /** Prolongs a claim, also one that has expired but that nobody else has taken. */
  abstract renew(claim: Claim, claimTtlMs: number, progress: number | null): Promise<boolean>;

  /** Does the claim still stand? Takes no write lock. */
  abstract holds(claim: Claim): Promise<boolean>;

  /** Saves a step's result and moves the job on: attempts start again at 0, the error is cleared. */
  abstract advance(claim: Claim, result: StepResult): Promise<Job | null>;

  /** Puts the job back to be tried again later; the attempt stays counted. */
  abstract retryLater(claim: Claim, delayMs: number, error: JobError): Promise<Job | null>;

  /** Puts the job back without cost: the attempt is given back. */
  abstract release(claim: Claim, delayMs: number): Promise<Job | null>;

  /** Ends the job in `failed` or `dead`. */
  abstract end(claim: Claim, state: 'failed' | 'dead', error: JobError): Promise<Job | null>;

  /** Calls a working job off, claimed or not. */
  abstract cancel(id: string): Promise<Job | null>;

  /** Puts a failed, dead or cancelled job back to the start. */
  abstract retry(id: string): Promise<Job | null>;

  /** Removes row and transcript, claimed or not; answers what was removed. */
  abstract delete(id: string): Promise<Job | null>;

  abstract depths(): Promise<readonly QueueDepth[]>;

  /** Can rows be written right now? Takes the write lock for a moment and changes nothing. */
  abstract check(): Promise<void>;
}

/** Why a job is buried when its last claim ran out without a word. */
export const INTERRUPTED: ErrorCode = 'interrupted';
