import type { Clock } from '../../common/clock/clock';
import { AppError, asAppError } from '../../common/errors/app-error';
import type { ErrorCode } from '../../common/errors/error-registry';

/** A probe or a scrape must be answered within about 3 s, whatever hangs behind it. */
export const READING_BOUND_MS = 2500;

export interface BoundedReadingOptions<T> {
  readonly clock: Clock;
  readonly read: () => Promise<T>;
  /** What it means when `read` gives no answer in time or fails without a code of ours. */
  readonly failure: ErrorCode;
  /** How long an outcome, good or bad, is given out again; 0 for not at all. */
  readonly freshMs?: number;
}

/**
 * Asks something that may hang. Whoever asks waits {@link READING_BOUND_MS} at most; a reading that
 * is still out is never doubled, so that a dead disk does not collect one stuck call for each probe,
 * and its outcome is used when it comes after all.
 */
export class BoundedReading<T> {
  private reading: Promise<T> | undefined;
  /** Monotonic time until which `reading` may be given out again; Infinity while it is out. */
  private freshUntil = 0;

  constructor(private readonly options: BoundedReadingOptions<T>) {}

  /** @throws AppError: the reading's own, or `failure` with the cause inside */
  async get(): Promise<T> {
    const { clock, failure } = this.options;
    const cut = new AbortController();
    const late = clock.sleep(READING_BOUND_MS, cut.signal).then((): never => {
      throw new AppError(failure, { cause: new Error(`no answer within ${READING_BOUND_MS} ms`) });
    });
    try {
      return await Promise.race([this.latest(), late]);
    } catch (error) {
      throw asAppError(error, failure);
    } finally {
      cut.abort();
    }
  }

  private latest(): Promise<T> {
    if (this.reading === undefined || this.options.clock.monotonic() >= this.freshUntil) {
      this.freshUntil = Infinity;
      this.reading = this.readOnce();
    }
    return this.reading;
  }

  private async readOnce(): Promise<T> {
    try {
      return await this.options.read();
    } finally {
      this.freshUntil = this.options.clock.monotonic() + (this.options.freshMs ?? 0);
    }
  }
}
