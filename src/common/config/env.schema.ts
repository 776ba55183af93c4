import { availableParallelism } from 'node:os';
import { z } from 'zod';

export const ROLE_NAMES = ['api', 'pipeline', 'telegram', 'walk'] as const;
export type Role = (typeof ROLE_NAMES)[number];

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
const MAX_TIMER_MS = 2_147_483_647;

const text = (fallback: string) => z.string().trim().min(1).default(fallback);
const optionalText = () => z.string().trim().min(1).optional();
const integer = (fallback: number, minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .trim()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(
      z
        .number()
        .min(minimum, `must be at least ${minimum}`)
        .max(maximum, `must be at most ${maximum}`),
    )
    .default(fallback);

const apiKeys = z
  .string()
  .trim()
  .transform((value, context) => {
    const keys: { name: string; key: string }[] = [];
    for (const entry of value.split(',')) {
      const match = /^\s*([A-Za-z0-9_.-]{1,64}):(\S{8,})\s*$/.exec(entry);
      if (match?.[1] === undefined || match[2] === undefined) {
        context.addIssue({
          code: 'custom',
          message: 'must be a comma list of name:key, keys of 8 characters or more',
        });
        return z.NEVER;
      }
      keys.push({ name: match[1], key: match[2] });
    }
    if (new Set(keys.map(({ name }) => name)).size !== keys.length) {
      context.addIssue({ code: 'custom', message: 'must not name a key twice' });
      return z.NEVER;
    }
    return keys;
  })
  .default([]);

const roles = z
  .string()
  .transform((value, context) => {
    const names = value.split(',').map((name) => name.trim());
    const known = names.filter((name): name is Role => ROLE_NAMES.includes(name as Role));
    if (known.length !== names.length) {
      context.addIssue({
        code: 'custom',
        message: `must be a comma list of ${ROLE_NAMES.join(', ')}`,
      });
      return z.NEVER;
    }
    return new Set(known);
  })
  .default(new Set(ROLE_NAMES));

/**
 * Every setting, its type and its default. `.env.example` is compared with this list by a test.
 * Messages speak of the key and the rule, never of the value: a value may be a secret.
 */
export const envSchema = z
  .object({
    HOST: text('127.0.0.1'),
    PORT: integer(3000, 0, 65_535),
    API_KEYS: apiKeys,
    DATA_DIR: text('./data'),
    DATABASE_URL: z
      .string()
      .trim()
      .regex(/^postgres(ql)?:\/\/\S+$/, 'must begin with postgres://')
      .optional(),
    STORAGE_URL: z
      .string()
      .trim()
      .regex(/^s3:\/\/\S+$/, 'must begin with s3://')
      .optional(),
    ROLES: roles,
    LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
    LOG_FORMAT: z.enum(['pretty', 'json']).optional(),
    UPLOAD_MAX_BYTES: integer(2_147_483_648, 1),
    RECORDING_MAX_SECONDS: integer(28_800, 1, 1_000_000),
    STORAGE_MIN_FREE_BYTES: integer(268_435_456, 0),
    FFMPEG_PATH: optionalText(),
    FFPROBE_PATH: optionalText(),
    PIPELINE_POLL_MS: integer(1000, 10, 60_000),
    PIPELINE_CLAIM_TTL_MS: integer(60_000, 300, 86_400_000),
    PIPELINE_MAX_ATTEMPTS: integer(5, 1, 100),
    PIPELINE_BACKOFF_BASE_MS: integer(5000, 1, MAX_TIMER_MS),
    PIPELINE_BACKOFF_MAX_MS: integer(3_600_000, 1, MAX_TIMER_MS),
    RECOGNIZER: z.enum(['auto', 'pocketsphinx']).default('auto'),
    RECOGNIZER_THREADS: integer(availableParallelism(), 1, 256),
    SHUTDOWN_TIMEOUT_MS: integer(10_000, 100, 600_000),
  })
  .superRefine((env, context) => {
    if (!LOOPBACK.test(env.HOST) && env.API_KEYS.length === 0) {
      context.addIssue({
        code: 'custom',
        path: ['API_KEYS'],
        message: 'is required when HOST is not a loopback address',
      });
    }
    if (env.PIPELINE_BACKOFF_MAX_MS < env.PIPELINE_BACKOFF_BASE_MS) {
      context.addIssue({
        code: 'custom',
        path: ['PIPELINE_BACKOFF_MAX_MS'],
        message: 'must not be below PIPELINE_BACKOFF_BASE_MS',
      });
    }
  });

export type Env = z.output<typeof envSchema>;
