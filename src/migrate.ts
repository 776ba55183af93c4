import { DataSource } from 'typeorm';
import { loadConfig } from './common/config/app-config';
import { writerOptions } from './common/database/data-source.options';
import { asDatabaseFailure } from './common/database/database-failure';
import { migrate, schemaState } from './common/database/schema';
import { failureFields } from './common/logging/log';
import { createPinoRoot } from './common/logging/pino-root';
import { PinoLogFactory } from './common/logging/pino.log-factory';

/** `npm run migrate`: brings the schema of DATABASE_URL (or of the SQLite file) up to date, and ends. */
async function main(): Promise<void> {
  const log = new PinoLogFactory(
    createPinoRoot({ level: 'info', format: process.stdout.isTTY ? 'pretty' : 'json' }),
  ).for('migrate');
  try {
    const dataSource = new DataSource(writerOptions(loadConfig(process.env).database));
    await dataSource.initialize();
    try {
      const { pending } = await schemaState(dataSource);
      await migrate(dataSource);
      log.info('schema is up to date', { migrations: pending.length });
    } finally {
      await dataSource.destroy();
    }
  } catch (error) {
    const failure = asDatabaseFailure(error);
    log.error('cannot migrate', { ...failureFields(failure), detail: failure.detail });
    process.exitCode = 1;
  }
}

void main();
