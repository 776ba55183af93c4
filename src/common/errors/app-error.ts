import { ERRORS, type ErrorCode, type FailureLevel } from './error-registry';
import { withoutNoop } from './noop';

export interface AppErrorOptions {
  /**
   * What happened this time, for the person who asked. It leaves the process (HTTP, job row), so
   * it never holds a path, a token, a transcript or foreign text.
   */
  readonly detail?: string;
  /** The technical cause, for the log only. A noop in it is dropped, see {@link withoutNoop}. */
  readonly cause?: unknown;
  /** Parameter at fault, for `invalid_parameter`. */
  readonly parameter?: string;
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** A failure with a meaning of ours: a stable code whose level, status and retryability stand in the registry. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly detail: string;
  readonly parameter: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: ErrorCode,
    options: AppErrorOptions = {},
  ) {
    const detail = options.detail ?? ERRORS[code].title;
    super(
      `${code}: ${detail}`,
      options.cause === undefined ? undefined : { cause: withoutNoop(options.cause) },
    );
    this.detail = detail;
    this.parameter = options.parameter;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get level(): FailureLevel {
    return ERRORS[this.code].level;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The failure as an AppError: itself when it already is one, else with `fallback` as its meaning. */
export function asAppError(error: unknown, fallback: ErrorCode = 'internal'): AppError {
  return error instanceof AppError ? error : new AppError(fallback, { cause: error });
}
