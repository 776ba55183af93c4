import type { AppConfig } from '../../../common/config/app-config';
import type { Clock } from '../../../common/clock/clock';
import { AppError, asAppError } from '../../../common/errors/app-error';
import { isNoop, PollId } from '../../../common/errors/noop';
import { failureFields, type Log, type LogFactory } from '../../../common/logging/log';
import { backoffMs } from '../domain/backoff';
import type { ClaimedJob, Job } from '../domain/job';
import type { JobRepository } from '../persistence/job.repository.port';
import type { PipelineEvents, WorkerName } from '../pipeline.events';
import { ClaimKeeper } from './claim-keeper';
import { RunningSteps, StepStopped, type StopReason } from './running-steps';
import type { Step, StepOutcome } from './step';

/** Pause between tries to save a result while the storage does not answer. */
const SAVE_RETRY_MS = 500;

export interface StepRunnerParts {
  readonly repository: JobRepository;
  readonly clock: Clock;
  readonly events: PipelineEvents;
  readonly running: RunningSteps;
  readonly logs: LogFactory;
  readonly settings: AppConfig['pipeline'];
  readonly random: () => number;
}

/**
 * Runs one step of one job: claim, work under a kept claim, save the outcome, tell what happened.
 * A noop can only come from the poll: whatever a step throws once it has a job is a failure.
 */
export class StepRunner {
  private readonly log: Log;

  constructor(private readonly parts: StepRunnerParts) {
    this.log = parts.logs.for('pipeline');
  }

  /**
   * @returns `idle` when the poll found no work
   * @throws AppError when the poll itself failed
   */
  async run(step: Step): Promise<'worked' | 'idle'> {
    const { repository, settings } = this.parts;
    const poll = new PollId(step.worker);
    let job: ClaimedJob;
    try {
      const answer = await repository.poll(
        step.from,
        poll,
        settings.claimTtlMs,
        settings.maxAttempts,
      );
      if (answer.kind === 'buried') {
        this.recordEnd(step.worker, answer.job, null, 0);
        return 'worked';
      }
      job = answer.job;
    } catch (error) {
      if (isNoop(error, poll)) {
        return 'idle';
      }
      const failure = asAppError(error, 'storage_unavailable');
      this.parts.events.tell('pollFailed', { worker: step.worker, error: failure });
      throw failure;
    }
    await this.work(step, job);
    return 'worked';
  }

  private async work(step: Step, job: ClaimedJob): Promise<void> {
    const { repository, clock, events, running, settings } = this.parts;
    const startedAt = clock.monotonic();
    const entry = running.enter(job.id);
    const keeper = new ClaimKeeper(repository, clock, job.claim, settings.claimTtlMs, () =>
      entry.stop('claim_lost'),
    );
    this.log.debug('step started', { job_id: job.id, worker: step.worker, attempt: job.attempts });
    keeper.start();
    try {
      const outcome = await step.perform(job, {
        signal: entry.signal,
        progress: (progress) => {
          keeper.report(progress);
          events.tell('progress', { jobId: job.id, progress });
        },
      });
      await this.saveOutcome(step, job, outcome, startedAt);
    } catch (error) {
      const stopped = entry.signal.aborted ? (entry.signal.reason as StepStopped).reason : null;
      if (stopped === null) {
        await this.saveFailure(step, job, asAppError(error), startedAt);
      } else {
        await this.saveStop(step, job, stopped);
      }
    } finally {
      await keeper.stop(); // last: the claim is kept until the outcome is written
      entry.leave();
    }
  }

  private async saveOutcome(
    step: Step,
    job: ClaimedJob,
    outcome: StepOutcome,
    startedAt: number,
  ): Promise<void> {
    const { repository, events, clock } = this.parts;
    if (outcome.kind === 'wait') {
      if (outcome.progress !== null) {
        await repository.renew(job.claim, this.parts.settings.claimTtlMs, outcome.progress);
      }
      await this.save(() => repository.release(job.claim, outcome.checkAfterMs));
      return;
    }
    let saved: Job | null;
    try {
      saved = await this.save(() => repository.advance(job.claim, outcome.result));
    } catch (error) {
      await outcome.undo?.();
      throw error;
    }
    if (saved === null) {
      await outcome.undo?.();
      await this.recordLoss(step, job);
      return;
    }
    const seconds = (clock.monotonic() - startedAt) / 1000;
    const level = saved.state === 'done' ? 'info' : 'debug';
    this.log.write(level, `recording is ${saved.state}`, {
      job_id: job.id,
      worker: step.worker,
      seconds: Number(seconds.toFixed(3)),
    });
    events.tell('step', { worker: step.worker, result: 'success', seconds });
    events.tell('changed', saved);
  }

  private async saveFailure(
    step: Step,
    job: ClaimedJob,
    failure: AppError,
    startedAt: number,
  ): Promise<void> {
    const { repository, events, clock, settings, random } = this.parts;
    const error = { code: failure.code, detail: failure.detail };
    const seconds = (clock.monotonic() - startedAt) / 1000;
    const spent = job.attempts >= settings.maxAttempts;
    const delayMs = backoffMs(
      job.attempts,
      { baseMs: settings.backoffBaseMs, maxMs: settings.backoffMaxMs },
      random(),
    );
    let saved: Job | null;
    try {
      saved = await this.save(() =>
        failure.retryable && !spent
          ? repository.retryLater(job.claim, delayMs, error)
          : repository.end(job.claim, failure.retryable ? 'dead' : 'failed', error),
      );
    } catch {
      // Nothing could be written: the claim runs out by itself and the job is taken up again.
      this.recordFailure(step.worker, job, failure, { saved: false });
      events.tell('step', { worker: step.worker, result: 'failure', seconds });
      return;
    }
    if (saved === null) {
      await this.recordLoss(step, job);
      return;
    }
    this.recordEnd(step.worker, saved, failure, seconds);
  }

  private async saveStop(step: Step, job: ClaimedJob, reason: StopReason): Promise<void> {
    if (reason === 'shutdown') {
      const released = await this.save(() => this.parts.repository.release(job.claim, 0)).catch(
        () => null, // the claim runs out by itself; the attempt stays counted
      );
      this.log.info('step given back at shutdown', {
        job_id: job.id,
        worker: step.worker,
        released: released !== null,
      });
      return;
    }
    await this.recordLoss(step, job);
  }

  /** A claim that is gone because the recording was called off is no loss, only an end. */
  private async recordLoss(step: Step, job: ClaimedJob): Promise<void> {
    const fields = { job_id: job.id, worker: step.worker };
    const current = await this.parts.repository.find(job.id).catch(() => undefined);
    if (current === null || current?.state === 'cancelled') {
      this.log.info('step stopped, recording was called off', fields);
      return;
    }
    this.log.warn('claim lost, result not written', fields);
    this.parts.events.tell('claimLost', { worker: step.worker, jobId: job.id });
  }

  private recordEnd(worker: WorkerName, job: Job, failure: AppError | null, seconds: number): void {
    const cause = failure ?? new AppError(job.error?.code ?? 'interrupted');
    this.recordFailure(worker, job, cause, { state: job.state });
    this.parts.events.tell('step', { worker, result: 'failure', seconds });
    this.parts.events.tell('changed', job);
  }

  /** The one record of a failed step. `dead` needs the owner: nothing will happen by itself any more. */
  private recordFailure(
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

  /** Tries to write for as long as the claim may last: a result is not thrown away for a busy disk. */
  private async save<T>(write: () => Promise<T>): Promise<T> {
    const { clock, settings } = this.parts;
    const deadline = clock.monotonic() + settings.claimTtlMs;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (clock.monotonic() + SAVE_RETRY_MS > deadline) {
          throw error;
        }
        await clock.sleep(SAVE_RETRY_MS);
      }
    }
  }
}
