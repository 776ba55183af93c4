import type { ByteRange } from '../../../common/storage/blob-store.port';

/**
 * The part of the file that a Range header asks for: `undefined` for the whole, `null` when it lies
 * outside. Several ranges at once, or a header that is not one, give the whole, as RFC 9110 allows.
 */
export function requestedRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | null | undefined {
  const match = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/.exec(header?.trim() ?? '');
  if (match === null) {
    return undefined;
  }
  const [, first, last, suffix] = match;
  const start = first === undefined ? Math.max(0, sizeBytes - Number(suffix)) : Number(first);
  const end = last === undefined ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== undefined && Number(last) < start) {
    return undefined;
  }
  return start >= sizeBytes || suffix === '0' ? null : { start, end };
}
