export interface BackoffSettings {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** Share of the delay that is left to chance, so that jobs that failed together do not return together. */
const JITTER = 0.25;

/**
 * Milliseconds to wait after attempt number `attempt` (from 1) failed: doubling from `baseMs`, never
 * above `maxMs`, up to a quarter longer by chance.
 * @param random a number in [0, 1)
 */
export function backoffMs(attempt: number, settings: BackoffSettings, random: number): number {
  const ceiling = settings.maxMs / (1 + JITTER);
  const delay = Math.min(ceiling, settings.baseMs * 2 ** (attempt - 1));
  return Math.round(delay * (1 + JITTER * random));
}
