import type { AppError } from '../../common/errors/app-error';
import { TypedEvents } from '../../common/events/typed-events';
import type { Job } from './domain/job';

export const WORKERS = ['convert', 'dispatch', 'collect'] as const;
export type WorkerName = (typeof WORKERS)[number];

/** What happens in the pipeline, for whoever listens: metrics, replies, event streams. Told after it is saved. */
export interface PipelineEventMap {
  /** A job is in a new state, or was put back into its state to wait. */
  changed: [job: Job];
  /** A job's progress moved within its state. */
  progress: [progress: { readonly jobId: string; readonly progress: number }];
  /** The row is gone. */
  deleted: [job: Job];
  /** A step ended by its own doing, `seconds` after its claim. */
  step: [
    step: {
      readonly worker: WorkerName;
      readonly result: 'success' | 'failure';
      readonly seconds: number;
    },
  ];
  /** A run failed before it had a job: the storage did not answer. */
  pollFailed: [failure: { readonly worker: WorkerName; readonly error: AppError }];
  /** A worker found that its claim belongs to somebody else by now; its result was not written. */
  claimLost: [claim: { readonly worker: WorkerName; readonly jobId: string }];
  /** An engine has recognised a recording. */
  recognized: [
    work: {
      readonly engine: string;
      readonly audioSeconds: number;
      readonly workSeconds: number;
    },
  ];
  /** Files that belonged to nobody were removed. */
  swept: [files: { readonly reason: 'staging' | 'orphan'; readonly count: number }];
}

export class PipelineEvents extends TypedEvents<PipelineEventMap> {}
