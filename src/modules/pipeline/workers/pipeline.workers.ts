import type { AppConfig } from '../../../common/config/app-config';
import type { Clock } from '../../../common/clock/clock';
import type { Draining } from '../../../common/lifecycle/draining';
import type { PollSchedule } from '../../../common/lifecycle/poll-schedule.port';
import { WorkerLoop } from '../../../common/lifecycle/worker-loop';
import { failureFields, type Log, type LogFactory } from '../../../common/logging/log';
import type { RunningSteps } from '../application/running-steps';
import type { Step } from '../application/step';
import type { StepRunner } from '../application/step-runner';
import type { WorkingState } from '../domain/job-state';
import type { PipelineEvents } from '../pipeline.events';

export interface PipelineWorkersParts {
  /** The steps to be worked on, each with how many jobs at a time. */
  readonly steps: readonly { readonly step: Step; readonly concurrency: number }[];
  readonly runner: StepRunner;
  readonly schedule: PollSchedule;
  readonly events: PipelineEvents;
  readonly running: RunningSteps;
  readonly draining: Draining;
  readonly clock: Clock;
  readonly logs: LogFactory;
  readonly settings: AppConfig['pipeline'];
}

/**
 * The three workers. Each polls its state once an interval, and is woken at once when a job comes
 * into that state in this process, so that a short recording does not wait for three polls.
 */
export class PipelineWorkers {
  private readonly loops = new Map<WorkingState, WorkerLoop>();
  private readonly log: Log;
  private unsubscribe: () => void = () => undefined;

  constructor(private readonly parts: PipelineWorkersParts) {
    this.log = parts.logs.for('pipeline');
  }

  start(): void {
    const { steps, runner, schedule, events, clock, settings } = this.parts;
    for (const { step, concurrency } of steps) {
      const loop = new WorkerLoop({
        clock,
        concurrency,
        pauseMs: settings.pollMs,
        run: () => runner.run(step),
        onFailure: (error, pauseMs) =>
          this.log.warn('poll failed', {
            worker: step.worker,
            pause_ms: pauseMs,
            ...failureFields(error),
          }),
      });
      this.loops.set(step.from, loop);
      schedule.every(step.worker, settings.pollMs, () => loop.wake());
      loop.wake();
    }
    this.unsubscribe = events.on('changed', (job) => {
      this.loops.get(job.state as WorkingState)?.wake();
    });
  }

  /**
   * Claims nothing more, lets running steps finish until the shutdown's deadline, then stops them and
   * gives their jobs back at no cost.
   */
  async stop(): Promise<void> {
    const { steps, schedule, draining, running } = this.parts;
    this.unsubscribe();
    for (const { step } of steps) {
      schedule.stop(step.worker);
    }
    const ended = Promise.all([...this.loops.values()].map((loop) => loop.stop()));
    if (!(await draining.waitFor(ended))) {
      running.stopAll('shutdown');
      const cut = new AbortController();
      await Promise.race([ended, this.parts.clock.sleep(RELEASE_MS, cut.signal)]);
      cut.abort();
    }
  }
}

/** After the deadline, jobs still have to be given back: time for the children to die and one write. */
const RELEASE_MS = 800;
