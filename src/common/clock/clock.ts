/** Takes back a timer; harmless after it fired. */
export type CancelTimer = () => void;

/**
 * The only source of time. Wall time is for what is stored and shown; monotonic time for
 * durations. Bound to {@link SystemClock} in the product and to a fake in tests.
 */
export abstract class Clock {
  /** Wall time, milliseconds since the Unix epoch. */
  abstract now(): number;
  /** Milliseconds since an arbitrary start; never runs backwards. */
  abstract monotonic(): number;
  /** Calls `fire` once after `delayMs` (at least 0), also after the machine was suspended. */
  abstract after(delayMs: number, fire: () => void): CancelTimer;

  /** Resolves after `delayMs`, or at once when `signal` aborts (it never rejects). */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.after(delayMs, done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }
}
