import parseRange from 'range-parser';
import type { ByteRange } from '../../../common/storage/blob-store.port';

/**
 * The part of the file that a Range header asks for: `undefined` for the whole, `null` when it lies
 * outside. Several ranges at once, or a header that is not one, give the whole, as RFC 9110 allows.
 */
export function requestedRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | null | undefined {
  if (header === undefined) {
    return undefined;
  }
  const ranges = parseRange(sizeBytes, header);
  if (ranges === -1) {
    return null;
  }
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 || ranges[0] === undefined) {
    return undefined;
  }
  return { start: ranges[0].start, end: ranges[0].end };
}
