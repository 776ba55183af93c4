import type { Clock } from '../../../common/clock/clock';
import { AppError } from '../../../common/errors/app-error';
import { failureFields, type Log } from '../../../common/logging/log';
import type { ClaimedJob, Job } from '../domain/job';
import type { PipelineEvents, WorkerName } from '../pipeline.events';

/** One step under way on one claimed job. */
export interface StepRun {
  readonly worker: WorkerName;
  readonly job: ClaimedJob;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
}

/** What the owner gets to see of a step: one record and one count for each end. */
export class StepRecords {
  constructor(
    private readonly log: Log,
    private readonly events: PipelineEvents,
    private readonly clock: Clock,
  ) {}

  started({ job, worker }: StepRun): void {
    this.log.debug('step started', { job_id: job.id, worker, attempt: job.attempts });
  }

  succeeded(run: StepRun, saved: Job): void {
    const seconds = this.secondsOf(run);
    this.log.write(saved.state === 'done' ? 'info' : 'debug', `recording is ${saved.state}`, {
      job_id: saved.id,
      worker: run.worker,
      seconds: Number(seconds.toFixed(3)),
    });
    this.events.tell('step', { worker: run.worker, result: 'success', seconds });
    if (saved.state === 'done' && saved.engine !== null && saved.durationSeconds !== null) {
      this.events.tell('recognized', {
        engine: saved.engine,
        audioSeconds: saved.durationSeconds,
        workSeconds: seconds,
      });
    }
    this.events.tell('changed', saved);
  }

  failed(run: StepRun, saved: Job, failure: AppError): void {
    this.failure(run.worker, saved, failure, { state: saved.state });
    this.countFailure(run.worker, this.secondsOf(run));
    this.events.tell('changed', saved);
  }

  /** Nothing could be written: the claim runs out by itself and the job is taken up again. */
  unsaved(run: StepRun, failure: AppError): void {
    this.failure(run.worker, run.job, failure, { saved: false });
    this.countFailure(run.worker, this.secondsOf(run));
  }

  /** The job's attempts were spent on runs that never came to an end of their own. */
  buried(worker: WorkerName, job: Job): void {
    this.failure(worker, job, new AppError(job.error?.code ?? 'interrupted'), { state: job.state });
    this.countFailure(worker, 0);
    this.events.tell('changed', job);
  }

  claimLost({ job, worker }: StepRun): void {
    this.log.warn('claim lost, result not written', { job_id: job.id, worker });
    this.events.tell('claimLost', { worker, jobId: job.id });
  }

  calledOff({ job, worker }: StepRun): void {
    this.log.info('step stopped, recording was called off', { job_id: job.id, worker });
  }

  givenBack({ job, worker }: StepRun, released: boolean): void {
    this.log.info('step given back at shutdown', { job_id: job.id, worker, released });
  }

  /** What nobody refers to any more; the next start sweeps it. */
  notUndone({ job, worker }: StepRun, error: unknown): void {
    const fields = failureFields(error);
    this.log.warn('unused result not removed', { job_id: job.id, worker, ...fields });
  }

  /** The one record of a failed step. `dead` needs the owner: nothing will happen by itself any more. */
  private failure(
    worker: WorkerName,
    job: Job,
    failure: AppError,
    more: { readonly state?: string; readonly saved?: boolean },
  ): void {
    const level = more.state === 'dead' ? 'error' : failure.level;
    this.log.write(level, 'step failed', {
      job_id: job.id,
      worker,
      attempt: job.attempts,
      ...more,
      ...failureFields(failure),
    });
  }

  private countFailure(worker: WorkerName, seconds: number): void {
    this.events.tell('step', { worker, result: 'failure', seconds });
  }

  private secondsOf(run: StepRun): number {
    return (this.clock.monotonic() - run.startedAt) / 1000;
  }
}
