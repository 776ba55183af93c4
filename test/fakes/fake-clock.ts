import { Clock, type CancelTimer } from '../../src/common/clock/clock';

interface Pending {
  dueAt: number;
  fire: () => void;
}

/** A clock that moves only when told to. Wall and monotonic time can be moved apart. */
export class FakeClock extends Clock {
  private readonly pending = new Set<Pending>();
  private elapsed = 0;

  constructor(private wall = Date.parse('2026-01-01T00:00:00Z')) {
    super();
  }

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.elapsed;
  }

  after(delayMs: number, fire: () => void): CancelTimer {
    const entry: Pending = { dueAt: this.elapsed + Math.max(0, delayMs), fire };
    this.pending.add(entry);
    return () => {
      this.pending.delete(entry);
    };
  }

  /** Sets the wall clock without any time passing, as an administrator or NTP would. */
  setWall(epochMs: number): void {
    this.wall = epochMs;
  }

  /** Lets `ms` pass: fires what falls due, in order, and lets promise chains run in between. */
  async advance(ms: number): Promise<void> {
    const end = this.elapsed + ms;
    for (;;) {
      const next = [...this.pending]
        .filter((entry) => entry.dueAt <= end)
        .sort((a, b) => a.dueAt - b.dueAt)[0];
      if (next === undefined) {
        break;
      }
      this.pending.delete(next);
      this.moveTo(Math.max(next.dueAt, this.elapsed));
      next.fire();
      await settle();
    }
    this.moveTo(end);
    await settle();
  }

  get pendingTimers(): number {
    return this.pending.size;
  }

  private moveTo(elapsed: number): void {
    this.wall += elapsed - this.elapsed;
    this.elapsed = elapsed;
  }
}

/** Lets pending promise callbacks and immediate I/O callbacks run. */
export async function settle(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
