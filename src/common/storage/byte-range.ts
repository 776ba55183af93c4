import { AppError } from '../errors/app-error';
import type { ByteRange } from './blob-store.port';

/** @throws AppError `internal`: whoever serves a client has checked the range before */
export function assertByteRange(range: ByteRange | undefined): void {
  if (range === undefined) {
    return;
  }
  const { start, end } = range;
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw new AppError('internal', { cause: new Error('a byte range is not valid') });
  }
}

/** How many bytes of a blob of `sizeBytes` lie in `range`; all of them without a range. */
export function bytesInRange(sizeBytes: number, range: ByteRange | undefined): number {
  if (range === undefined) {
    return sizeBytes;
  }
  return Math.max(0, Math.min(range.end + 1, sizeBytes) - range.start);
}
