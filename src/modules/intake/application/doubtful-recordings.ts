import type { CancelTimer, Clock } from '../../../common/clock/clock';
import type { PipelineFacade } from '../../pipeline';

/** Longer than a statement may run: what was under way when the answer was lost has ended by then. */
const SETTLE_AFTER_MS = 60_000;

/**
 * Recordings of which nobody could say whether their row was committed, because the database went away
 * in between. They are asked for again until it answers; until then their bytes are kept. A process
 * that ends before leaves their notes to the next start.
 */
export class DoubtfulRecordings {
  private readonly ids = new Set<string>();
  private cancel: CancelTimer | undefined;
  private stopped = false;

  constructor(
    private readonly pipeline: PipelineFacade,
    private readonly clock: Clock,
  ) {}

  add(id: string): void {
    this.ids.add(id);
    this.arm();
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  get size(): number {
    return this.ids.size;
  }

  private arm(): void {
    if (this.stopped || this.cancel !== undefined || this.ids.size === 0) {
      return;
    }
    this.cancel = this.clock.after(SETTLE_AFTER_MS, () => {
      void this.settleAll().then(() => {
        this.cancel = undefined;
        this.arm();
      });
    });
  }

  private async settleAll(): Promise<void> {
    for (const id of [...this.ids]) {
      try {
        await this.pipeline.settle(id);
        this.ids.delete(id);
      } catch {
        return; // still away: the failure was recorded with the request, and readiness shows it
      }
    }
  }
}
