import sqlite3 from 'sqlite3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NoopError, PollId } from '../../src/common/errors/noop';
import { describeJobRepositoryContract } from '../contracts/job-repository.contract';
import { describeSqlQueueContract } from '../contracts/sql-queue.contract';
import { newJob, TestIds } from '../fakes/test-jobs';
import { openSqlQueue, type SqlQueue } from './sql-queue';

async function openInFolder(): Promise<SqlQueue & { readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-queue-'));
  const file = join(folder, 'steward.sqlite');
  const queue = await openSqlQueue({ type: 'sqlite', file });
  return {
    ...queue,
    file,
    close: async () => {
      await queue.close();
      await rm(folder, { recursive: true });
    },
  };
}

describeJobRepositoryContract('SqlJobRepository on SQLite', openInFolder);
describeSqlQueueContract('SqlJobRepository on SQLite', openInFolder);

describe('SqlJobRepository on SQLite while another process writes', () => {
  let queue: SqlQueue & { readonly file: string };
  let writer: sqlite3.Database;
  const ids = new TestIds();

  const run = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => {
      writer.run(sql, (error: Error | null) => (error === null ? resolve() : reject(error)));
    });

  beforeAll(async () => {
    queue = await openInFolder();
    writer = await new Promise((resolve, reject) => {
      const opened = new sqlite3.Database(queue.file, (error) =>
        error === null ? resolve(opened) : reject(error),
      );
    });
  });

  afterAll(async () => {
    await new Promise<void>((resolve) => {
      writer.close(() => resolve());
    });
    await queue.close();
  });

  // A poll that asked for the write lock would wait for it in vain and fail as storage_unavailable.
  it('answers an idle poll without the write lock', async () => {
    await queue.repository.create(newJob(ids.next()));
    const held = await queue.repository.poll('created', new PollId('convert'), 60_000, 5);
    const later = await queue.repository.create(newJob(ids.next()));
    await queue.makeDue(later.job.id, 8_000_000_000_000);
    await run('BEGIN IMMEDIATE');
    try {
      for (const state of ['created', 'converted', 'transcribe'] as const) {
        await expect(
          queue.repository.poll(state, new PollId('worker'), 60_000, 5),
        ).rejects.toBeInstanceOf(NoopError);
      }
      expect(held.kind === 'claimed' && (await queue.repository.holds(held.job.claim))).toBe(true);
      expect(await queue.repository.find(later.job.id)).not.toBeNull();
      expect(await queue.repository.depths()).toHaveLength(1);
    } finally {
      await run('ROLLBACK');
    }
  });

  it('claims only after the other has let go', async () => {
    await queue.clear();
    const { job } = await queue.repository.create(newJob(ids.next()));
    await run('BEGIN IMMEDIATE');
    const answer = queue.repository.poll('created', new PollId('worker'), 60_000, 5);
    expect((await queue.rows())[0]).toMatchObject({ id: job.id, attempts: 0, token: null });
    await run('COMMIT');
    expect(await answer).toMatchObject({ kind: 'claimed', job: { id: job.id, attempts: 1 } });
  });
});
