/** The level a failure is recorded at; see docs/conventions/logging.md. */
export type FailureLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ErrorDefinition {
  /** One short human sentence, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** HTTP status when it leaves through the API. */
  readonly status: number;
  readonly level: FailureLevel;
  /** Might the same request or step succeed later without anybody changing it? */
  readonly retryable: boolean;
}

const define = <T extends Record<string, ErrorDefinition>>(table: T): T => table;

/**
 * Every stable error code of the product, in one greppable place. Codes are contract: clients
 * switch on them. A job that fails with a code that is not retryable ends `failed`, with one
 * that is, it is tried again and ends `dead` when its attempts are spent.
 */
export const ERRORS = define({
  // Intake: what the request itself shows.
  unauthorized: {
    title: 'A valid API key is required',
    status: 401,
    level: 'info',
    retryable: false,
  },
  payload_too_large: {
    title: 'The upload is larger than allowed',
    status: 413,
    level: 'info',
    retryable: false,
  },
  unsupported_media_type: {
    title: 'The request must be multipart/form-data',
    status: 415,
    level: 'info',
    retryable: false,
  },
  empty_file: { title: 'The file has no bytes', status: 400, level: 'info', retryable: false },
  missing_file: {
    title: 'The part "file" is missing',
    status: 400,
    level: 'info',
    retryable: false,
  },
  invalid_parameter: {
    title: 'A parameter is not valid',
    status: 400,
    level: 'info',
    retryable: false,
  },
  idempotency_conflict: {
    title: 'This Idempotency-Key belongs to another upload',
    status: 409,
    level: 'info',
    retryable: false,
  },
  storage_full: {
    title: 'There is not enough free space',
    status: 507,
    level: 'error',
    retryable: true,
  },
  storage_unavailable: {
    title: 'The storage does not answer',
    status: 503,
    level: 'error',
    retryable: true,
  },
  rate_limited: { title: 'Too many requests', status: 429, level: 'info', retryable: true },
  not_found: { title: 'There is no such resource', status: 404, level: 'info', retryable: false },
  not_ready: {
    title: 'The transcript is not ready yet',
    status: 409,
    level: 'info',
    retryable: true,
  },
  no_transcript: {
    title: 'This recording has no transcript',
    status: 409,
    level: 'info',
    retryable: false,
  },
  not_retryable: {
    title: 'This recording cannot be retried in its state',
    status: 409,
    level: 'info',
    retryable: false,
  },
  not_cancellable: {
    title: 'This recording has already ended',
    status: 409,
    level: 'info',
    retryable: false,
  },
  audio_expired: {
    title: 'The audio is no longer kept',
    status: 410,
    level: 'info',
    retryable: false,
  },
  shutting_down: {
    title: 'The service is stopping',
    status: 503,
    level: 'info',
    retryable: true,
  },
  internal: {
    title: 'The service failed to handle the request',
    status: 500,
    level: 'error',
    retryable: true,
  },

  // Job, final: the recording itself can never be transcribed.
  not_media: {
    title: 'The file is not audio or video',
    status: 422,
    level: 'warn',
    retryable: false,
  },
  no_audio_stream: {
    title: 'The file has no audio stream',
    status: 422,
    level: 'warn',
    retryable: false,
  },
  corrupt_media: {
    title: 'The audio is damaged beyond decoding',
    status: 422,
    level: 'warn',
    retryable: false,
  },
  too_long: {
    title: 'The recording is longer than allowed',
    status: 422,
    level: 'warn',
    retryable: false,
  },
  language_unsupported: {
    title: 'The engine does not know this language',
    status: 422,
    level: 'warn',
    retryable: false,
  },
  audio_missing: {
    title: 'The stored audio is gone',
    status: 410,
    level: 'error',
    retryable: false,
  },

  // Job, passing: may succeed later; `dead` when the attempts are spent.
  conversion_timeout: {
    title: 'The conversion took too long',
    status: 504,
    level: 'warn',
    retryable: true,
  },
  converter_unavailable: {
    title: 'The converter cannot be started',
    status: 503,
    level: 'warn',
    retryable: true,
  },
  engine_unavailable: {
    title: 'The speech engine cannot be started or reached',
    status: 503,
    level: 'warn',
    retryable: true,
  },
  engine_failed: {
    title: 'The speech engine failed',
    status: 502,
    level: 'warn',
    retryable: true,
  },
  engine_timeout: {
    title: 'The speech engine took too long',
    status: 504,
    level: 'warn',
    retryable: true,
  },
  model_missing: {
    title: 'The speech model is missing or damaged',
    status: 503,
    level: 'warn',
    retryable: true,
  },
  interrupted: {
    title: 'The work was interrupted each time it was tried',
    status: 503,
    level: 'warn',
    retryable: true,
  },

  // Start: the process does not come up.
  config_invalid: {
    title: 'A setting is not valid',
    status: 500,
    level: 'error',
    retryable: false,
  },
  schema_mismatch: {
    title: 'The database schema does not fit this program',
    status: 500,
    level: 'error',
    retryable: false,
  },
});

export type ErrorCode = keyof typeof ERRORS;

export const isErrorCode = (value: string): value is ErrorCode => Object.hasOwn(ERRORS, value);
