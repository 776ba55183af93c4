import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { AppConfig } from '../../src/common/config/app-config';
import { writerOptions } from '../../src/common/database/data-source.options';
import type { Database } from '../../src/common/database/database';
import { MIGRATIONS } from '../../src/common/database/migrations';
import { openDatabase } from '../../src/common/database/open-database';
import { migrate, schemaState } from '../../src/common/database/schema';
import { DataDirPresence } from '../../src/common/lifecycle/data-dir-presence';
import {
  createPostgresDatabase,
  describeOnPostgres,
  migratePostgres,
  type PostgresDatabase,
} from './postgres-database';

const NAMES = MIGRATIONS.map(({ name }) => name);

async function withDataSource<T>(
  config: AppConfig['database'],
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = new DataSource(writerOptions(config));
  await dataSource.initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

const recordMigration = (config: AppConfig['database'], name: string): Promise<unknown> =>
  withDataSource(config, (dataSource) =>
    dataSource.query(`INSERT INTO migrations (timestamp, name) VALUES (9999999999999, '${name}')`),
  );

const namesIn = async (database: Database): Promise<unknown[]> =>
  (await database.read('SELECT name FROM migrations ORDER BY id')).map((row) => row['name']);

/** A row and its text, as an older version left them. */
async function addRecording(database: Database): Promise<void> {
  await database.write(`
    INSERT INTO recordings (id, state, next_attempt_at, source, sender, filename, media_type,
      size_bytes, sha256, created_at, updated_at)
    VALUES ('a', 'done', 0, 'http', '', 'memo.ogg', 'audio/ogg', 1, 'ab', 0, 0)`);
  await database.write(
    `INSERT INTO transcripts (recording_id, body, created_at) VALUES ('a', '{}', 0)`,
  );
}

describe('the schema on SQLite', () => {
  let folder: string;
  let config: AppConfig['database'];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-schema-'));
    config = { type: 'sqlite', file: join(folder, 'data', 'steward.sqlite') };
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** A start as the service makes it: under the lock of its DATA_DIR. */
  async function start(): Promise<{ database: Database; presence: DataDirPresence }> {
    const presence = await DataDirPresence.enter(join(folder, 'data'));
    const database = await openDatabase(config);
    await presence.admitOthers();
    return { database, presence };
  }

  async function stop(started: { database: Database; presence: DataDirPresence }): Promise<void> {
    await started.database.close();
    await started.presence.leave();
  }

  it('makes itself on an empty folder, and again on nothing it already has', async () => {
    const first = await start();
    await addRecording(first.database);
    expect(await namesIn(first.database)).toEqual(NAMES);
    await stop(first);

    const second = await start();
    expect(await namesIn(second.database)).toEqual(NAMES);
    expect(await second.database.read('SELECT recording_id FROM transcripts')).toHaveLength(1);
    await stop(second);
  });

  it('is made once when several start at once', async () => {
    const started = await Promise.all([start(), start(), start()]);
    for (const { database } of started) {
      expect(await namesIn(database)).toEqual(NAMES);
    }
    await Promise.all(started.map(stop));
  });

  it('made by a newer program is refused, and left as it is', async () => {
    await stop(await start());
    await recordMigration(config, 'FromTheFuture9999999999999');
    await expect(openDatabase(config)).rejects.toMatchObject({
      code: 'schema_mismatch',
      detail: expect.stringContaining('newer'),
    });
    const state = await withDataSource(config, schemaState);
    expect(state).toEqual({ pending: [], unknown: ['FromTheFuture9999999999999'] });
  });

  it('can be taken down again', async () => {
    await stop(await start());
    await withDataSource(config, async (dataSource) => {
      for (const name of NAMES) {
        expect(name).toBeDefined();
        await dataSource.undoLastMigration();
      }
      const tables = await dataSource.query<{ name: string }[]>(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
      );
      expect(tables).toEqual([{ name: 'migrations' }]);
      await migrate(dataSource);
      expect(await schemaState(dataSource)).toEqual({ pending: [], unknown: [] });
    });
  });

  it('leaves no half of a migration behind when one fails', async () => {
    await withDataSource(config, async (dataSource) => {
      await dataSource.query('CREATE TABLE transcripts (in_the_way text)');
    });
    await expect(openDatabase(config)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await withDataSource(config, async (dataSource) => {
      expect(await schemaState(dataSource)).toEqual({ pending: NAMES, unknown: [] });
      await dataSource.query('DROP TABLE transcripts');
    });
    await stop(await start());
  });
});

describeOnPostgres('the schema on PostgreSQL', () => {
  let postgres: PostgresDatabase;

  beforeEach(async () => {
    postgres = await createPostgresDatabase();
  });

  afterEach(() => postgres.drop());

  it('is never made by a start: an empty database is refused with the command to run', async () => {
    await expect(openDatabase(postgres.config)).rejects.toMatchObject({
      code: 'schema_mismatch',
      detail: expect.stringContaining('npm run migrate'),
    });
    const state = await withDataSource(postgres.config, schemaState);
    expect(state).toEqual({ pending: NAMES, unknown: [] });
  });

  it('is made by migrating, also twice, and then many starts share it', async () => {
    await migratePostgres(postgres.config);
    await migratePostgres(postgres.config);
    const databases = await Promise.all([
      openDatabase(postgres.config),
      openDatabase(postgres.config),
    ]);
    for (const database of databases) {
      expect(await namesIn(database)).toEqual(NAMES);
    }
    await Promise.all(databases.map((database) => database.close()));
  });

  it('made by a newer program is refused by start and by migration', async () => {
    await migratePostgres(postgres.config);
    await recordMigration(postgres.config, 'FromTheFuture9999999999999');
    const refusal = { code: 'schema_mismatch', detail: expect.stringContaining('newer') };
    await expect(openDatabase(postgres.config)).rejects.toMatchObject(refusal);
    await expect(migratePostgres(postgres.config)).rejects.toMatchObject(refusal);
  });

  it('can be taken down again', async () => {
    await migratePostgres(postgres.config);
    await withDataSource(postgres.config, async (dataSource) => {
      for (const name of NAMES) {
        expect(name).toBeDefined();
        await dataSource.undoLastMigration();
      }
      expect(await schemaState(dataSource)).toEqual({ pending: NAMES, unknown: [] });
    });
    await migratePostgres(postgres.config);
  });

  it('says in our own words that no server answers, without the address or the password', async () => {
    const refusal = await openDatabase({
      type: 'postgres',
      url: 'postgres://user:canary-7f3a@127.0.0.1:1/none',
    }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'storage_unavailable' });
    expect(JSON.stringify(refusal) + String((refusal as Error).cause)).not.toContain('canary');
  });
});
