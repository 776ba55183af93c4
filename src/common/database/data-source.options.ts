import type { DataSourceOptions } from 'typeorm';
import sqlite3 from 'sqlite3';
import type { AppConfig } from '../config/app-config';
import { MIGRATIONS } from './migrations';
import { SilentTypeormLogger } from './silent.typeorm-logger';

/** How long SQLite itself waits for another process's lock; sqlite3 waits off the event loop. */
export const SQLITE_BUSY_TIMEOUT_MS = 5000;

const POSTGRES_POOL_SIZE = 10;
const POSTGRES_STATEMENT_TIMEOUT_MS = 30_000;
const POSTGRES_CONNECT_TIMEOUT_MS = 10_000;

/** The connection that writes; on PostgreSQL also the one that reads. */
export function writerOptions(database: AppConfig['database']): DataSourceOptions {
  const common = {
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    synchronize: false,
    logger: new SilentTypeormLogger(),
  } as const;
  if (database.type === 'sqlite') {
    return {
      ...common,
      type: 'sqlite',
      database: database.file,
      enableWAL: true,
      busyTimeout: SQLITE_BUSY_TIMEOUT_MS,
    };
  }
  return {
    ...common,
    type: 'postgres',
    url: database.url,
    poolSize: POSTGRES_POOL_SIZE,
    connectTimeoutMS: POSTGRES_CONNECT_TIMEOUT_MS,
    extra: { statement_timeout: POSTGRES_STATEMENT_TIMEOUT_MS },
  };
}

/**
 * A second SQLite connection that only reads: it never waits behind a writer and never sees what is
 * not committed.
 */
export function readerOptions(file: string): DataSourceOptions {
  return {
    type: 'sqlite',
    database: file,
    flags: sqlite3.OPEN_READONLY,
    busyTimeout: SQLITE_BUSY_TIMEOUT_MS,
    synchronize: false,
    logger: new SilentTypeormLogger(),
  };
}
