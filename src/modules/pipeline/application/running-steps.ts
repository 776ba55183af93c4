/** Why a step was told to stop; never a failure of the step. */
export type StopReason = 'cancelled' | 'deleted' | 'shutdown' | 'claim_lost';

/** What a step's signal aborts with. */
export class StepStopped extends Error {
  override readonly name = 'StepStopped';

  constructor(readonly reason: StopReason) {
    super(`stopped: ${reason}`);
  }
}

/** The steps under way in this process, so that cancel, delete and shutdown reach them at once. */
export class RunningSteps {
  private readonly controllers = new Map<string, AbortController>();

  /** @returns the signal of the step, and how to sign it off */
  enter(jobId: string): {
    readonly signal: AbortSignal;
    stop(reason: StopReason): void;
    leave(): void;
  } {
    const controller = new AbortController();
    this.controllers.set(jobId, controller);
    return {
      signal: controller.signal,
      stop: (reason) => controller.abort(new StepStopped(reason)),
      leave: () => {
        if (this.controllers.get(jobId) === controller) {
          this.controllers.delete(jobId);
        }
      },
    };
  }

  stop(jobId: string, reason: StopReason): void {
    this.controllers.get(jobId)?.abort(new StepStopped(reason));
  }

  stopAll(reason: StopReason): void {
    for (const controller of this.controllers.values()) {
      controller.abort(new StepStopped(reason));
    }
  }
}
