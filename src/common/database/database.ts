import type { DataSource, QueryRunner } from 'typeorm';
import { asDatabaseFailure } from './database-failure';
import { bindNamed, type Dialect, type SqlParameters } from './named-parameters';
import { WriteGate } from './write-gate';

export type Row = Readonly<Record<string, unknown>>;

export interface WriteResult {
  /** Rows of a RETURNING clause, else empty. */
  readonly rows: readonly Row[];
  /** How many rows the statement changed. */
  readonly affected: number;
}

/** What may be done inside {@link Database.transaction}. */
export interface Transaction {
  write(sql: string, parameters?: SqlParameters): Promise<WriteResult>;
}

/**
 * The one door to the database, the same on SQLite and PostgreSQL. Statements use `:name`
 * parameters. On SQLite every write passes the write gate; reads go over a connection of their own.
 *
 * All methods throw AppError `storage_unavailable` or `storage_full`; never a TypeORM error.
 */
export class Database {
  private readonly gate = new WriteGate();

  constructor(
    private readonly writer: DataSource,
    private readonly reader: DataSource,
    readonly dialect: Dialect,
  ) {}

  async read(sql: string, parameters: SqlParameters = {}): Promise<readonly Row[]> {
    const { text, values } = bindNamed(sql, parameters, this.dialect);
    try {
      return await this.reader.query<Row[]>(text, values);
    } catch (error) {
      throw asDatabaseFailure(error);
    }
  }

  async write(sql: string, parameters: SqlParameters = {}): Promise<WriteResult> {
    return this.guarded(() => this.withRunner((runner) => this.run(runner, sql, parameters)));
  }

  /** Runs `work` in one transaction: all of its writes are kept, or none when it throws. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.guarded(() =>
      this.withRunner(async (runner) => {
        // TypeORM's own BEGIN is deferred: on SQLite it can fail at the first write whatever the
        // busy timeout is. IMMEDIATE takes the lock at once or waits for it.
        await runner.query(this.dialect === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN');
        try {
          const result = await work({
            write: (sql, parameters = {}) => this.run(runner, sql, parameters),
          });
          await runner.query('COMMIT');
          return result;
        } catch (error) {
          // SQLITE_FULL has already rolled back by itself; then this fails and must not hide why.
          await runner.query('ROLLBACK').catch(() => undefined);
          throw error;
        }
      }),
    );
  }

  /** Waits for writers that are already in, then closes. */
  async close(): Promise<void> {
    await this.gate.idle();
    if (this.reader !== this.writer) {
      await this.reader.destroy();
    }
    await this.writer.destroy();
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await (this.dialect === 'sqlite' ? this.gate.pass(work) : work());
    } catch (error) {
      throw asDatabaseFailure(error);
    }
  }

  /** SQLite has one shared runner that must not be released; PostgreSQL lends one from its pool. */
  private async withRunner<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    const runner = this.writer.createQueryRunner();
    try {
      return await work(runner);
    } finally {
      await runner.release();
    }
  }

  private async run(
    runner: QueryRunner,
    sql: string,
    parameters: SqlParameters,
  ): Promise<WriteResult> {
    const { text, values } = bindNamed(sql, parameters, this.dialect);
    // The sqlite driver only hands RETURNING rows out when the text does not begin with the verb,
    // and only counts changes when it does.
    const returning = /\bRETURNING\b/.test(text);
    const result = await runner.query(returning ? `\n${text.trim()}` : text.trim(), values, true);
    const rows = returning ? ((result.records ?? []) as Row[]) : [];
    return { rows, affected: returning ? rows.length : (result.affected ?? 0) };
  }
}
