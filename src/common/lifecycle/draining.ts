import type { Clock } from '../clock/clock';

/**
 * The one deadline of a shutdown, shared by everything that has to be finished: the bound is on the
 * whole, not on each part in turn.
 */
export class Draining {
  private deadline: number | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number,
  ) {}

  /** The service stops now. Calling it again moves nothing. */
  begin(): void {
    this.deadline ??= this.clock.monotonic() + this.timeoutMs;
  }

  get begun(): boolean {
    return this.deadline !== undefined;
  }

  /** Waits for `work`, but not beyond the deadline. @returns whether `work` was finished in time */
  async waitFor(work: Promise<unknown>): Promise<boolean> {
    this.begin();
    const left = Math.max(0, (this.deadline ?? 0) - this.clock.monotonic());
    const cut = new AbortController();
    try {
      return await Promise.race([
        work.then(
          () => true,
          () => true,
        ),
        this.clock.sleep(left, cut.signal).then(() => false),
      ]);
    } finally {
      cut.abort();
    }
  }
}
