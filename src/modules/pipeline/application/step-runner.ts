import type { AppConfig } from '../../../common/config/app-config';
import type { Clock } from '../../../common/clock/clock';
import { asAppError, type AppError } from '../../../common/errors/app-error';
import { isNoop, PollId } from '../../../common/errors/noop';
import type { LogFactory } from '../../../common/logging/log';
import { backoffMs } from '../domain/backoff';
import type { ClaimedJob, Job } from '../domain/job';
import type { JobRepository, StepResult } from '../persistence/job.repository.port';
import type { PipelineEvents } from '../pipeline.events';
import { ClaimKeeper } from './claim-keeper';
import { ClaimWriter } from './claim-writer';
import { carries } from './own-result';
import { RunningSteps, StepStopped, type StopReason } from './running-steps';
import type { Step, StepOutcome } from './step';
import { StepRecords, type StepRun } from './step-records';

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
  private readonly records: StepRecords;
  private readonly writer: ClaimWriter;

  constructor(private readonly parts: StepRunnerParts) {
    const { repository, clock, events, logs, settings } = parts;
    this.records = new StepRecords(logs.for('pipeline'), events, clock);
    this.writer = new ClaimWriter(repository, clock, settings.claimTtlMs);
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
        this.records.buried(step.worker, answer.job);
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
    const entry = running.enter(job.id);
    const { signal } = entry;
    const run: StepRun = { worker: step.worker, job, signal, startedAt: clock.monotonic() };
    const keeper = new ClaimKeeper(repository, clock, job.claim, settings.claimTtlMs, () =>
      entry.stop('claim_lost'),
    );
    this.records.started(run);
    keeper.start();
    try {
      let outcome: StepOutcome;
      try {
        outcome = await step.perform(job, {
          signal,
          progress: (progress) => {
            keeper.report(progress);
            events.tell('progress', { jobId: job.id, progress });
          },
        });
      } catch (error) {
        await (signal.aborted ? this.saveStop(run) : this.saveFailure(run, asAppError(error)));
        return;
      }
      await (outcome.kind === 'wait'
        ? this.saveWait(run, outcome.checkAfterMs, outcome.progress)
        : this.saveResult(run, outcome.result, outcome.undo));
    } finally {
      await keeper.stop(); // last: the claim is kept until the outcome is written
      entry.leave();
    }
  }

  private async saveWait(
    run: StepRun,
    checkAfterMs: number,
    progress: number | null,
  ): Promise<void> {
    const { repository, settings } = this.parts;
    const { claim, id } = run.job;
    const settled = await this.writer.write(
      id,
      async () => {
        if (progress !== null) {
          await repository.renew(claim, settings.claimTtlMs, progress);
        }
        return repository.release(claim, checkAfterMs);
      },
      (current) => isGivenBack(current, run.job),
    );
    if (settled.kind === 'refused') {
      await this.recordLoss(run);
    } else if (settled.kind === 'failed') {
      this.records.unsaved(run, asAppError(settled.error));
    }
  }

  private async saveResult(
    run: StepRun,
    result: StepResult,
    undo: (() => Promise<void>) | undefined,
  ): Promise<void> {
    const { claim, id } = run.job;
    const settled = await this.writer.write(
      id,
      () => this.parts.repository.advance(claim, result),
      (current) => carries(current, result),
    );
    switch (settled.kind) {
      case 'saved':
        this.records.succeeded(run, settled.job);
        return;
      case 'refused':
        await this.undo(run, undo);
        await this.recordLoss(run);
        return;
      case 'failed':
        // When it is not certain, the row may speak of what the step made: then that stays.
        if (settled.certain) {
          await this.undo(run, undo);
        }
        this.records.unsaved(run, asAppError(settled.error));
    }
  }

  private async undo(run: StepRun, undo: (() => Promise<void>) | undefined): Promise<void> {
    try {
      await undo?.();
    } catch (error) {
      this.records.notUndone(run, error);
    }
  }

  private async saveFailure(run: StepRun, failure: AppError): Promise<void> {
    const { repository, settings, random } = this.parts;
    const { job } = run;
    const error = { code: failure.code, detail: failure.detail };
    const again = failure.retryable && job.attempts < settings.maxAttempts;
    const ended = failure.retryable ? 'dead' : 'failed';
    const backoff = { baseMs: settings.backoffBaseMs, maxMs: settings.backoffMaxMs };
    const delayMs = backoffMs(job.attempts, backoff, random());
    const settled = await this.writer.write(
      job.id,
      () =>
        again
          ? repository.retryLater(job.claim, delayMs, error)
          : repository.end(job.claim, ended, error),
      (current) =>
        current.error?.code === error.code &&
        (again
          ? current.state === job.state && current.nextAttemptAt > job.nextAttemptAt
          : current.state === ended),
    );
    switch (settled.kind) {
      case 'saved':
        this.records.failed(run, settled.job, failure);
        return;
      case 'refused':
        await this.recordLoss(run);
        return;
      case 'failed':
        this.records.unsaved(run, failure);
    }
  }

  private async saveStop(run: StepRun): Promise<void> {
    const { claim, id } = run.job;
    if (stopReason(run.signal) !== 'shutdown') {
      await this.recordLoss(run);
      return;
    }
    const settled = await this.writer.write(
      id,
      () => this.parts.repository.release(claim, 0),
      (current) => isGivenBack(current, run.job),
    );
    this.records.givenBack(run, settled.kind === 'saved');
  }

  /** A claim that is gone because the recording was called off is no loss, only an end. */
  private async recordLoss(run: StepRun): Promise<void> {
    const reason = stopReason(run.signal);
    if (reason === 'cancelled' || reason === 'deleted' || (await this.isCalledOff(run.job.id))) {
      this.records.calledOff(run);
    } else {
      this.records.claimLost(run);
    }
  }

  /** Asked of the row, because another process may have called the recording off. */
  private async isCalledOff(jobId: string): Promise<boolean> {
    const current = await this.parts.repository.find(jobId).catch(() => undefined);
    return current === null || current?.state === 'cancelled';
  }
}

function isGivenBack(current: Job, claimed: ClaimedJob): boolean {
  return current.state === claimed.state && current.attempts < claimed.attempts;
}

function stopReason(signal: AbortSignal): StopReason | null {
  return signal.reason instanceof StepStopped ? signal.reason.reason : null;
}
