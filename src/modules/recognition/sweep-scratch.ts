import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** No window of audio is worked on for so long. */
const OLDEST_IN_USE_MS = 24 * 3_600_000;

/**
 * Removes what engines of killed processes left in the scratch folder: everything when nobody else uses
 * it, otherwise what was not touched for a day.
 */
export async function sweepScratch(folder: string, alone: boolean, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    const touched = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => now, // gone meanwhile
    );
    if (alone || now - touched > OLDEST_IN_USE_MS) {
      // What cannot be removed now is tried again at the next start.
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
