import type { AppConfig } from '../../src/common/config/app-config';
import type { Database, Row } from '../../src/common/database/database';
import type { SqlParameters } from '../../src/common/database/named-parameters';
import { openDatabase } from '../../src/common/database/open-database';
import { SystemClock } from '../../src/common/clock/system-clock';
import { SqlJobRepository } from '../../src/modules/pipeline/persistence/sql.job.repository';
import type { JobRepositoryHarness } from '../contracts/job-repository.contract';

export interface SqlQueue extends JobRepositoryHarness {
  readonly database: Database;
  raw(sql: string, parameters?: SqlParameters): Promise<readonly Row[]>;
}

/** Two openings of one database, as two processes have them, behind the harness of the contract. */
export async function openSqlQueue(config: AppConfig['database']): Promise<SqlQueue> {
  const clock = new SystemClock();
  const database = await openDatabase(config);
  const second = await openDatabase(config);
  const raw = async (sql: string, parameters: SqlParameters = {}): Promise<readonly Row[]> =>
    (await database.write(sql, parameters)).rows;
  const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

  return {
    database,
    raw,
    repository: new SqlJobRepository(database, clock),
    other: new SqlJobRepository(second, clock),
    makeDue: async (id, at = 0) => {
      await raw('UPDATE recordings SET next_attempt_at = :at WHERE id = :id', { id, at });
    },
    expireClaim: async (id) => {
      await raw('UPDATE recordings SET claim_expires_at = 0 WHERE id = :id', { id });
    },
    rows: async () =>
      (await database.read('SELECT * FROM recordings')).map((row) => ({
        id: row['id'] as string,
        state: row['state'] as string,
        attempts: Number(row['attempts']),
        token: row['claim_token'] as string | null,
        expiresAt: numberOrNull(row['claim_expires_at']),
      })),
    transcriptIds: async () =>
      (await database.read('SELECT recording_id FROM transcripts')).map(
        (row) => row['recording_id'] as string,
      ),
    clear: async () => {
      await raw('DELETE FROM recordings');
    },
    close: async () => {
      await second.close();
      await database.close();
    },
  };
}
