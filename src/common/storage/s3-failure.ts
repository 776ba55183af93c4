import { AppError } from '../errors/app-error';
import { storageFailure } from './storage-failure';

/** HTTP status of an answer that the S3 client turned into an error, or undefined without an answer. */
export function s3StatusOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) {
    return undefined;
  }
  const metadata: unknown = error.$metadata;
  return typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
    ? metadata.httpStatusCode
    : undefined;
}

/** What a failed S3 call means: `storage_full` when the server says 507, else as for any storage. */
export function s3Failure(error: unknown): AppError {
  if (s3StatusOf(error) === 507) {
    return new AppError('storage_full', { cause: error });
  }
  return storageFailure(error);
}
