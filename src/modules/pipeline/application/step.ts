import type { ClaimedJob } from '../domain/job';
import type { WorkingState } from '../domain/job-state';
import type { StepResult } from '../persistence/job.repository.port';
import type { WorkerName } from '../pipeline.events';

export interface StepContext {
  /** Aborts when the step must stop: cancelled, deleted, shutdown, claim lost. */
  readonly signal: AbortSignal;
  /** Tells the job's progress, 0..1. */
  readonly progress: (progress: number) => void;
}

export type StepOutcome =
  | {
      readonly kind: 'advance';
      readonly result: StepResult;
      /** Removes what the step made, when its result could not be written. */
      readonly undo?: () => Promise<void>;
    }
  /** The work is going on elsewhere: ask again later, at no cost. */
  | { readonly kind: 'wait'; readonly checkAfterMs: number; readonly progress: number | null };

/** What one worker does to one claimed job. Failures are thrown as AppError. */
export abstract class Step {
  abstract readonly worker: WorkerName;
  abstract readonly from: WorkingState;
  abstract perform(job: ClaimedJob, context: StepContext): Promise<StepOutcome>;
}
