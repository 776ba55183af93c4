import { join, resolve } from 'node:path';
import { AppError } from '../errors/app-error';
import { envSchema, type Env, type Role } from './env.schema';

export interface ApiKey {
  readonly name: string;
  readonly key: string;
}

/** The settings in force, given out by injection. Nobody else reads the environment. */
export class AppConfig {
  readonly http: { readonly host: string; readonly port: number };
  readonly apiKeys: readonly ApiKey[];
  readonly roles: ReadonlySet<Role>;
  /** Absolute folder of everything this service keeps. */
  readonly dataDir: string;
  readonly database:
    | { readonly type: 'sqlite'; readonly file: string }
    | { readonly type: 'postgres'; readonly url: string };
  readonly storage: { readonly url: string | undefined; readonly minFreeBytes: number };
  readonly log: { readonly level: Env['LOG_LEVEL']; readonly format: 'pretty' | 'json' };
  readonly limits: { readonly uploadBytes: number; readonly recordingSeconds: number };
  readonly media: { readonly ffmpegPath: string; readonly ffprobePath: string };
  readonly pipeline: {
    readonly pollMs: number;
    readonly claimTtlMs: number;
    readonly maxAttempts: number;
    readonly backoffBaseMs: number;
    readonly backoffMaxMs: number;
  };
  readonly recognition: { readonly engine: Env['RECOGNIZER']; readonly threads: number };
  readonly shutdownTimeoutMs: number;

  constructor(env: Env, isTerminal: boolean) {
    this.http = { host: env.HOST, port: env.PORT };
    this.apiKeys = env.API_KEYS;
    this.roles = env.ROLES;
    this.dataDir = resolve(env.DATA_DIR);
    this.database =
      env.DATABASE_URL === undefined
        ? { type: 'sqlite', file: join(this.dataDir, 'steward.sqlite') }
        : { type: 'postgres', url: env.DATABASE_URL };
    this.storage = { url: env.STORAGE_URL, minFreeBytes: env.STORAGE_MIN_FREE_BYTES };
    this.log = {
      level: env.LOG_LEVEL,
      format: env.LOG_FORMAT ?? (isTerminal ? 'pretty' : 'json'),
    };
    this.limits = {
      uploadBytes: env.UPLOAD_MAX_BYTES,
      recordingSeconds: env.RECORDING_MAX_SECONDS,
    };
    this.media = {
      ffmpegPath: env.FFMPEG_PATH ?? 'ffmpeg',
      ffprobePath: env.FFPROBE_PATH ?? 'ffprobe',
    };
    this.pipeline = {
      pollMs: env.PIPELINE_POLL_MS,
      claimTtlMs: env.PIPELINE_CLAIM_TTL_MS,
      maxAttempts: env.PIPELINE_MAX_ATTEMPTS,
      backoffBaseMs: env.PIPELINE_BACKOFF_BASE_MS,
      backoffMaxMs: env.PIPELINE_BACKOFF_MAX_MS,
    };
    this.recognition = { engine: env.RECOGNIZER, threads: env.RECOGNIZER_THREADS };
    this.shutdownTimeoutMs = env.SHUTDOWN_TIMEOUT_MS;
  }
}

/**
 * Reads and checks the settings. An empty value counts as not set.
 * @throws AppError `config_invalid` that names every key at fault and its rule, never a value.
 */
export function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal = process.stdout.isTTY,
): AppConfig {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const parsed = envSchema.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `${issue.path.map(String).join('.')} ${ruleOf(issue)}`,
    );
    throw new AppError('config_invalid', { detail: faults.join('; ') });
  }
  return new AppConfig(parsed.data, isTerminal);
}

/** Zod's own message for an enum lists the allowed values only; others may echo the input. */
function ruleOf(issue: { code?: string; message: string; values?: unknown }): string {
  if (issue.code === 'invalid_value' && Array.isArray(issue.values)) {
    return `must be one of ${issue.values.join(', ')}`;
  }
  return issue.message;
}
