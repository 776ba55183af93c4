import { PollSchedule } from '../../src/common/lifecycle/poll-schedule.port';

/** Ticks when told to. */
export class FakePollSchedule extends PollSchedule {
  readonly intervals = new Map<
    string,
    { readonly intervalMs: number; readonly tick: () => void }
  >();

  every(name: string, intervalMs: number, tick: () => void): void {
    if (this.intervals.has(name)) {
      throw new Error(`${name} is scheduled already`);
    }
    this.intervals.set(name, { intervalMs, tick });
  }

  stop(name: string): void {
    this.intervals.delete(name);
  }

  tickAll(): void {
    for (const { tick } of [...this.intervals.values()]) {
      tick();
    }
  }
}
