import { QueryFailedError } from 'typeorm';
import { AppError } from '../errors/app-error';

/**
 * A failed statement in our own words. TypeORM's error carries the parameters, that is file names,
 * prompts and transcripts, so it never leaves this folder: only the driver's code and, for SQLite,
 * its message survive as the cause.
 */
export function asDatabaseFailure(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const driver = error instanceof QueryFailedError ? (error.driverError as unknown) : error;
  const code = codeOf(driver);
  if (code === 'SQLITE_FULL' || code === '53100') {
    return new AppError('storage_full', { cause: new Error(`database: ${code}`) });
  }
  return new AppError('storage_unavailable', { cause: new Error(`database: ${describe(driver)}`) });
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

function describe(error: unknown): string {
  const code = codeOf(error);
  if (code?.startsWith('SQLITE_') === true && error instanceof Error) {
    return error.message; // SQLite's messages name tables and columns, never values
  }
  return code ?? (error instanceof Error ? error.name : 'unknown failure');
}
