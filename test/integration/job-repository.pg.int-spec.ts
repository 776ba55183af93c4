import { SystemClock } from '../../src/common/clock/system-clock';
import { openDatabase } from '../../src/common/database/open-database';
import { PollId } from '../../src/common/errors/noop';
import { SqlJobRepository } from '../../src/modules/pipeline/persistence/sql.job.repository';
import { describeJobRepositoryContract } from '../contracts/job-repository.contract';
import { describeSqlQueueContract } from '../contracts/sql-queue.contract';
import { FakeClock } from '../fakes/fake-clock';
import { newJob, TestIds } from '../fakes/test-jobs';
import { createPostgresDatabase, describeOnPostgres, migratePostgres } from './postgres-database';
import { openSqlQueue, type SqlQueue } from './sql-queue';

async function openInNewDatabase(): Promise<SqlQueue & { readonly url: string }> {
  const { config, drop } = await createPostgresDatabase();
  await migratePostgres(config);
  const queue = await openSqlQueue(config);
  return {
    ...queue,
    url: config.url,
    close: async () => {
      await queue.close();
      await drop();
    },
  };
}

describeOnPostgres('SqlJobRepository on PostgreSQL', () => {
  describeJobRepositoryContract('SqlJobRepository', openInNewDatabase);
  describeSqlQueueContract('SqlJobRepository', openInNewDatabase);

  it('judges every claim by the clock of the database, not of the machine (Q24)', async () => {
    const queue = await openInNewDatabase();
    const hoursFast = await openDatabase({ type: 'postgres', url: queue.url });
    try {
      const { job } = await queue.repository.create(newJob(new TestIds().next()));
      const held = await queue.repository.poll('created', new PollId('convert'), 60_000, 5);
      expect(held).toMatchObject({ kind: 'claimed', job: { id: job.id } });
      const fast = new FakeClock(new SystemClock().now() + 5 * 3_600_000);
      const thief = new SqlJobRepository(hoursFast, fast);
      await expect(thief.poll('created', new PollId('convert'), 60_000, 5)).rejects.toMatchObject({
        name: 'NoopError',
      });
    } finally {
      await hoursFast.close();
      await queue.close();
    }
  });
});
