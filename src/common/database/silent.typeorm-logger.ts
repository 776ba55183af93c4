import type { Logger } from 'typeorm';

/**
 * TypeORM says nothing of its own: even with its logging off it prints failed migrations to the
 * console, beside our structured log. What fails is thrown, and recorded where it is caught.
 */
export class SilentTypeormLogger implements Logger {
  logQuery(): void {}
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
