import type { DataSource } from 'typeorm';
import { AppError } from '../errors/app-error';
import { MIGRATIONS } from './migrations';

export interface SchemaState {
  /** Migrations this program has and the database lacks. */
  readonly pending: readonly string[];
  /** Migrations the database has and this program does not know: it was made by a newer one. */
  readonly unknown: readonly string[];
}

export async function schemaState(dataSource: DataSource): Promise<SchemaState> {
  const known = MIGRATIONS.map((migration) => migration.name);
  const runner = dataSource.createQueryRunner();
  try {
    const applied = (await runner.hasTable('migrations'))
      ? ((await runner.query('SELECT name FROM migrations')) as { name: string }[]).map(
          ({ name }) => name,
        )
      : [];
    return {
      pending: known.filter((name) => !applied.includes(name)),
      unknown: applied.filter((name) => !known.includes(name)),
    };
  } finally {
    await runner.release();
  }
}

/**
 * Brings the schema up to date.
 * @throws AppError `schema_mismatch` when the database was made by a newer program
 */
export async function migrate(dataSource: DataSource): Promise<void> {
  refuseNewer(await schemaState(dataSource));
  await dataSource.runMigrations();
}

/**
 * Checks without changing anything: with several processes no single one may migrate on its own.
 * @throws AppError `schema_mismatch`
 */
export async function requireCurrentSchema(dataSource: DataSource): Promise<void> {
  const state = await schemaState(dataSource);
  refuseNewer(state);
  if (state.pending.length > 0) {
    throw new AppError('schema_mismatch', {
      detail: 'The database schema is older than this program: run "npm run migrate" first',
    });
  }
}

function refuseNewer(state: SchemaState): void {
  if (state.unknown.length > 0) {
    throw new AppError('schema_mismatch', {
      detail: 'The database schema is newer than this program: start the newer version',
    });
  }
}
