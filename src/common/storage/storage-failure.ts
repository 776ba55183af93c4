import { AppError } from '../errors/app-error';

const FULL = new Set<unknown>(['ENOSPC', 'EDQUOT']);
/** ENOTDIR: a file stands where the path has a folder, so there is nothing below it. */
const MISSING = new Set<unknown>(['ENOENT', 'ENOTDIR']);

/** The code Node put on a system error, or undefined. */
export function errnoOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

export const isMissing = (error: unknown): boolean => MISSING.has(errnoOf(error));

/** What a failed file operation means: `storage_full` or `storage_unavailable`. */
export function storageFailure(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  return new AppError(FULL.has(errnoOf(error)) ? 'storage_full' : 'storage_unavailable', {
    cause: error,
  });
}

/** The same operation with its failure given a meaning. */
export async function storing<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw storageFailure(error);
  }
}
