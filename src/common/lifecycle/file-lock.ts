import sqlite3 from 'sqlite3';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../errors/app-error';

/** How long `share` waits for a process that holds the file exclusively, as at its start. */
const SHARE_WAIT_MS = 60_000;

/**
 * A lock between the processes of one machine that dies with its holder, also after kill -9: a
 * database lock on a small file of its own, because SQLite brings the portable file locks that Node
 * lacks. Held exclusively by one, or shared by many.
 *
 * `open`, `tryExclusive` and `share` throw AppError `storage_unavailable`.
 */
export class FileLock {
  private constructor(private readonly connection: sqlite3.Database) {}

  static async open(path: string): Promise<FileLock> {
    try {
      await mkdir(dirname(path), { recursive: true });
      const connection = await new Promise<sqlite3.Database>((resolve, reject) => {
        const opened = new sqlite3.Database(path, (error) =>
          error === null ? resolve(opened) : reject(error),
        );
      });
      return new FileLock(connection);
    } catch (error) {
      throw lockFailure(error);
    }
  }

  /** Takes the lock for oneself alone, or says at once that somebody holds it. */
  async tryExclusive(): Promise<boolean> {
    try {
      await this.run('PRAGMA busy_timeout = 0');
      await this.run('BEGIN EXCLUSIVE');
      return true;
    } catch (error) {
      if (isBusy(error)) {
        return false;
      }
      throw lockFailure(error);
    }
  }

  /** Holds the lock together with others; waits for an exclusive holder to let go. */
  async share(): Promise<void> {
    try {
      await this.run(`PRAGMA busy_timeout = ${SHARE_WAIT_MS}`);
      await this.run('BEGIN');
      await this.run('SELECT count(*) FROM sqlite_master');
    } catch (error) {
      throw lockFailure(error);
    }
  }

  /** Lets go but stays open. */
  async release(): Promise<void> {
    await this.run('COMMIT');
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.connection.close((error) => (error === null ? resolve() : reject(error)));
    });
  }

  private run(sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      // `all` also steps through the row of a SELECT, which is what takes the shared lock.
      this.connection.all(sql, (error) => (error === null ? resolve() : reject(error)));
    });
  }
}

function lockFailure(error: unknown): AppError {
  return new AppError('storage_unavailable', {
    detail: 'The lock file in DATA_DIR cannot be used',
    cause: error,
  });
}

function isBusy(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'SQLITE_BUSY';
}
