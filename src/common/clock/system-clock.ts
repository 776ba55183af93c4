import { performance } from 'node:perf_hooks';
import { Clock, type CancelTimer } from './clock';

/**
 * The longest single wait handed to Node. Node's timers stand still while the machine is suspended
 * and overflow above 24.8 days, so a long wait is taken in pieces and checked against the wall clock.
 */
const LONGEST_PIECE_MS = 30_000;

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  after(delayMs: number, fire: () => void): CancelTimer {
    const delay = Math.max(0, delayMs);
    const startedAt = this.monotonic();
    const dueAt = this.now() + delay;
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const awake = delay - (this.monotonic() - startedAt);
      // Suspended time only shows on the wall clock; a clock set back must not lengthen the wait.
      const left = Math.min(awake, dueAt - this.now());
      if (left <= 0) {
        fire();
        return;
      }
      timer = setTimeout(arm, Math.min(left, LONGEST_PIECE_MS));
    };
    timer = setTimeout(arm, Math.min(delay, LONGEST_PIECE_MS));
    return () => clearTimeout(timer);
  }
}
