import { CreateRecordings1764547200000 } from './1764547200000-create-recordings';

/** In the order they run. Explicit classes, not globs: paths differ between source and build. */
export const MIGRATIONS = [CreateRecordings1764547200000];
