import { DataSource } from 'typeorm';
import type { AppConfig } from '../config/app-config';
import { AppError } from '../errors/app-error';
import { readerOptions, SQLITE_BUSY_TIMEOUT_MS, writerOptions } from './data-source.options';
import { asDatabaseFailure } from './database-failure';
import { Database } from './database';
import { migrate, requireCurrentSchema } from './schema';

/** SQLite's number for PRAGMA synchronous = FULL: every commit is on disk when it is acknowledged. */
const SYNCHRONOUS_FULL = 2;

/**
 * Connects and makes sure of the schema: SQLite migrates itself, PostgreSQL must be migrated already.
 * The caller holds a lock that keeps a second process from migrating the same SQLite file.
 * @throws AppError `storage_unavailable`, `schema_mismatch`
 */
export async function openDatabase(config: AppConfig['database']): Promise<Database> {
  const writer = new DataSource(writerOptions(config));
  try {
    await writer.initialize();
    if (config.type === 'postgres') {
      await requireCurrentSchema(writer);
      return new Database(writer, writer, 'postgres');
    }
    await makeDurable(writer);
    await migrate(writer);
    const reader = new DataSource(readerOptions(config.file));
    await reader.initialize();
    return new Database(writer, reader, 'sqlite');
  } catch (error) {
    if (writer.isInitialized) {
      await writer.destroy();
    }
    throw asDatabaseFailure(error);
  }
}

/** Sets what TypeORM has no option for, and asserts all that durability rests on. */
async function makeDurable(writer: DataSource): Promise<void> {
  await writer.query('PRAGMA synchronous = FULL');
  const facts = {
    journal_mode: 'wal',
    synchronous: SYNCHRONOUS_FULL,
    busy_timeout: SQLITE_BUSY_TIMEOUT_MS,
    foreign_keys: 1,
  };
  for (const [pragma, expected] of Object.entries(facts)) {
    const rows = await writer.query<Record<string, unknown>[]>(`PRAGMA ${pragma}`);
    const actual = Object.values(rows[0] ?? {})[0];
    if (actual !== expected) {
      throw new AppError('storage_unavailable', {
        detail: `The database refuses ${pragma} = ${expected}`,
      });
    }
  }
}
