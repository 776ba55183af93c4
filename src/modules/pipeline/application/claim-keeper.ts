import type { CancelTimer, Clock } from '../../../common/clock/clock';
import type { Claim } from '../domain/job';
import type { JobRepository } from '../persistence/job.repository.port';

/** A cancel or delete in another process is noticed within this time. */
const LONGEST_BEAT_MS = 1000;
/** Three beats fit into a claim's time, so two may be missed. */
const RENEWALS_PER_TTL = 3;
const LEAST_PROGRESS = 0.01;

/**
 * Keeps a claim alive while its step runs and notices when it is gone. Most beats only read; the
 * claim is written when it needs prolonging or when the progress has moved.
 */
export class ClaimKeeper {
  private cancelTimer: CancelTimer | undefined;
  private beat: Promise<void> = Promise.resolve();
  private stopped = false;
  private renewedAt: number;
  private progress = 0;
  private savedProgress = 0;

  constructor(
    private readonly repository: JobRepository,
    private readonly clock: Clock,
    private readonly claim: Claim,
    private readonly ttlMs: number,
    private readonly onLost: () => void,
  ) {
    this.renewedAt = clock.monotonic();
  }

  start(): void {
    this.cancelTimer = this.clock.after(
      Math.min(LONGEST_BEAT_MS, this.ttlMs / RENEWALS_PER_TTL),
      () => {
        this.beat = this.check().then(() => {
          if (!this.stopped) {
            this.start();
          }
        });
      },
    );
  }

  report(progress: number): void {
    this.progress = Math.max(this.progress, progress);
  }

  /** Ends the beats; resolves when the one under way is through. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTimer?.();
    await this.beat;
  }

  private async check(): Promise<void> {
    try {
      if (!(await this.beatOnce())) {
        this.lose();
      }
    } catch {
      // A missed beat is no loss: the storage may be back before the claim runs out. The failure
      // itself is recorded by the write that saves the step's result.
      if (this.clock.monotonic() - this.renewedAt > this.ttlMs) {
        this.lose();
      }
    }
  }

  private async beatOnce(): Promise<boolean> {
    const sinceRenewal = this.clock.monotonic() - this.renewedAt;
    const progress = this.progress;
    const moved = progress - this.savedProgress >= LEAST_PROGRESS;
    if (!moved && sinceRenewal < this.ttlMs / RENEWALS_PER_TTL) {
      return this.repository.holds(this.claim);
    }
    const startedAt = this.clock.monotonic();
    const held = await this.repository.renew(this.claim, this.ttlMs, moved ? progress : null);
    this.renewedAt = startedAt;
    this.savedProgress = moved ? progress : this.savedProgress;
    return held;
  }

  private lose(): void {
    this.stopped = true;
    this.onLost();
  }
}
