import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder; every command works from here, wherever it was called from. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Things that are costly to make and the same for every clone of this user. */
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'steward');

/** A tool out of node_modules; npx would look elsewhere when it is missing. */
export const tool = (name) => join(ROOT, 'node_modules', '.bin', name);
