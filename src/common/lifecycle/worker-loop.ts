import type { Clock } from '../clock/clock';

/** A storage that fails once a second would be reported once a second; so the pause grows up to this. */
const LONGEST_PAUSE_MS = 60_000;

export interface WorkerLoopOptions {
  readonly clock: Clock;
  /** How many runs may be under way at the same time. */
  readonly concurrency: number;
  /** First pause after a failed run, milliseconds; doubles with each failure in a row. */
  readonly pauseMs: number;
  /**
   * One run. Answers `worked` when there may be more to do at once and `idle` when there was nothing.
   * A rejection means the run could not even look for work.
   */
  readonly run: () => Promise<'worked' | 'idle'>;
  /** Told of a rejection and of the pause that follows; not of those that come during a pause. */
  readonly onFailure: (error: unknown, pauseMs: number) => void;
}

/**
 * Turns wake-ups (the poll's tick, a commit in this process) into runs, at most `concurrency` at a
 * time. A wake-up during a run is remembered, so that work committed just after that run looked for
 * some is not left until the next tick.
 */
export class WorkerLoop {
  private readonly running = new Set<Promise<void>>();
  private stopped = false;
  private wokenMeanwhile = false;
  private failures = 0;
  private pausedUntil = 0;

  constructor(private readonly options: WorkerLoopOptions) {}

  wake(): void {
    if (this.stopped || this.options.clock.monotonic() < this.pausedUntil) {
      return;
    }
    if (this.running.size >= this.options.concurrency) {
      this.wokenMeanwhile = true;
      return;
    }
    const slot = this.occupySlot().finally(() => {
      this.running.delete(slot);
      if (this.wokenMeanwhile) {
        this.wokenMeanwhile = false;
        this.wake();
      }
    });
    this.running.add(slot);
  }

  /** Takes no further run; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.running);
  }

  private async occupySlot(): Promise<void> {
    let more = true;
    while (more && !this.stopped) {
      this.wokenMeanwhile = false;
      try {
        more = (await this.options.run()) === 'worked';
        this.failures = 0;
      } catch (error) {
        more = false;
        this.pause(error);
      }
      if (more) {
        this.wake(); // where one job was there may be two: let a free slot look
      }
    }
  }

  private pause(error: unknown): void {
    if (this.options.clock.monotonic() < this.pausedUntil) {
      return; // several slots met the same failure: that is one, not a row of them
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, this.options.pauseMs * 2 ** this.failures);
    this.failures += 1;
    this.pausedUntil = this.options.clock.monotonic() + pauseMs;
    this.options.onFailure(error, pauseMs);
  }
}
