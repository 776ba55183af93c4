import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { AppConfig } from '../../src/common/config/app-config';
import { writerOptions } from '../../src/common/database/data-source.options';
import { migrate } from '../../src/common/database/schema';

/** Where a PostgreSQL for tests listens; its user may create databases. */
const SERVER_URL = process.env['STEWARD_TEST_POSTGRES_URL'];

/**
 * Describes tests that need a real PostgreSQL. Without one they are skipped, and it is said aloud, so
 * that nobody takes the silence for success.
 */
export function describeOnPostgres(name: string, describeTests: () => void): void {
  if (SERVER_URL === undefined || SERVER_URL === '') {
    process.stderr.write(`SKIPPED: "${name}" needs STEWARD_TEST_POSTGRES_URL\n`);
    describe(name, () => {
      it.skip('needs STEWARD_TEST_POSTGRES_URL', () => undefined);
    });
    return;
  }
  describe(name, describeTests);
}

export interface PostgresDatabase {
  readonly config: AppConfig['database'] & { readonly type: 'postgres' };
  drop(): Promise<void>;
}

/** A new, empty database of its own. */
export async function createPostgresDatabase(): Promise<PostgresDatabase> {
  const name = `steward_test_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name}`);
  const url = new URL(SERVER_URL ?? '');
  url.pathname = `/${name}`;
  return {
    config: { type: 'postgres', url: url.toString() },
    drop: () => onServer(`DROP DATABASE ${name} WITH (FORCE)`),
  };
}

/** As an administrator does it, before the service starts. */
export async function migratePostgres(config: PostgresDatabase['config']): Promise<void> {
  const dataSource = new DataSource(writerOptions(config));
  await dataSource.initialize();
  try {
    await migrate(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

async function onServer(sql: string): Promise<void> {
  const server = new DataSource({ type: 'postgres', url: SERVER_URL ?? '' });
  await server.initialize();
  try {
    await server.query(sql);
  } finally {
    await server.destroy();
  }
}
