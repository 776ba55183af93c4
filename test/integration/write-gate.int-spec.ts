import sqlite3 from 'sqlite3';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { DataSource } from 'typeorm';
import { readerOptions, writerOptions } from '../../src/common/database/data-source.options';
import { Database } from '../../src/common/database/database';
import { openDatabase } from '../../src/common/database/open-database';
import { AppError } from '../../src/common/errors/app-error';
import { createPostgresDatabase, describeOnPostgres, migratePostgres } from './postgres-database';

const INSERT = `
  INSERT INTO recordings (id, state, next_attempt_at, source, sender, filename, media_type,
    size_bytes, sha256, prompt, created_at, updated_at)
  VALUES (:id, 'created', 0, 'http', '', 'memo.ogg', 'audio/ogg', 1, 'ab', :prompt, 0, 0)`;
const row = (id: string, prompt: string | null = null) => ({ id, prompt });

async function idsIn(database: Database): Promise<unknown[]> {
  const rows = await database.read('SELECT id FROM recordings ORDER BY id');
  return rows.map((each) => each['id']);
}

/** Holds the write lock of a file until it is told to let go: a process of its own. */
const LOCKER = `
  const sqlite3 = require('sqlite3');
  const db = new sqlite3.Database(process.argv[1]);
  db.run('BEGIN IMMEDIATE', () => process.stdout.write('locked'));
  process.stdin.once('data', () => db.run('COMMIT', () => process.exit(0)));
`;

describe('the write gate on SQLite', () => {
  let folder: string;
  let file: string;
  let database: Database;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-gate-'));
    file = join(folder, 'steward.sqlite');
    database = await openDatabase({ type: 'sqlite', file });
  });

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
    }
    await database.close();
    await rm(folder, { recursive: true });
  });

  it('loses exactly what was rolled back among transactions and a plain write (Q28)', async () => {
    const settled = await Promise.allSettled([
      database.transaction(async (transaction) => {
        await transaction.write(INSERT, row('a1'));
        await new Promise((resolve) => setImmediate(resolve));
        await transaction.write(INSERT, row('a2'));
        throw new Error('a thinks better of it');
      }),
      database.transaction(async (transaction) => {
        await transaction.write(INSERT, row('b1'));
        await new Promise((resolve) => setImmediate(resolve));
        await transaction.write(INSERT, row('b2'));
      }),
      database.write(INSERT, row('c')),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(await idsIn(database)).toEqual(['b1', 'b2', 'c']);
  });

  it('keeps what was acknowledged before another transaction rolled back', async () => {
    const first = database.transaction((transaction) => transaction.write(INSERT, row('a')));
    const second = database
      .transaction(async (transaction) => {
        await transaction.write(INSERT, row('b'));
        throw new Error('no');
      })
      .catch(() => undefined);
    await Promise.all([first, second]);
    expect(await idsIn(database)).toEqual(['a']);
  });

  it('bears many writers of both kinds at once', async () => {
    const work = Array.from({ length: 60 }, (_, position) => {
      const id = String(position).padStart(2, '0');
      return position % 3 === 0
        ? database.write(INSERT, row(id))
        : database
            .transaction(async (transaction) => {
              await transaction.write(INSERT, row(id));
              if (position % 3 === 1) {
                throw new Error('no');
              }
            })
            .catch(() => undefined);
    });
    await Promise.all(work);
    expect(await idsIn(database)).toHaveLength(40);
  });

  it('goes on after a failed statement within and without a transaction', async () => {
    await expect(database.write('UPDATE nowhere SET x = 1')).rejects.toBeInstanceOf(AppError);
    await expect(
      database.transaction(async (transaction) => {
        await transaction.write(INSERT, row('a'));
        await transaction.write('UPDATE nowhere SET x = 1');
      }),
    ).rejects.toBeInstanceOf(AppError);
    await database.write(INSERT, row('b'));
    expect(await idsIn(database)).toEqual(['b']);
  });

  it('tells how many rows a write changed, and which it returned', async () => {
    expect(await database.write(INSERT, row('a'))).toEqual({ rows: [], affected: 1 });
    const change = `UPDATE recordings SET filename = 'x' WHERE id = :id`;
    expect(await database.write(change, { id: 'a' })).toEqual({ rows: [], affected: 1 });
    expect(await database.write(change, { id: 'z' })).toEqual({ rows: [], affected: 0 });
    expect(await database.write(`${change} RETURNING id`, { id: 'a' })).toEqual({
      rows: [{ id: 'a' }],
      affected: 1,
    });
    expect(await database.write(`${change} RETURNING id`, { id: 'z' })).toEqual({
      rows: [],
      affected: 0,
    });
  });

  it('shows readers nothing that is not committed', async () => {
    await database.transaction(async (transaction) => {
      await transaction.write(INSERT, row('a'));
      expect(await idsIn(database)).toEqual([]);
    });
    expect(await idsIn(database)).toEqual(['a']);
  });

  it('lets nobody write through the reading door', async () => {
    await expect(database.read(INSERT, row('a'))).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    expect(await idsIn(database)).toEqual([]);
  });

  it('waits for a lock that another process holds, and reads go on meanwhile', async () => {
    const locker = spawn(process.execPath, ['-e', LOCKER, file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(locker);
    await once(locker.stdout, 'data');
    let written = false;
    const writes = Promise.all([
      database.write(INSERT, row('a')),
      database.transaction((transaction) => transaction.write(INSERT, row('b'))),
    ]).then(() => (written = true));
    expect(await idsIn(database)).toEqual([]);
    expect(written).toBe(false);
    locker.stdin.write('go');
    await writes;
    expect(await idsIn(database)).toEqual(['a', 'b']);
  });

  it('says that the storage is unavailable when the lock is never let go', async () => {
    const locker = spawn(process.execPath, ['-e', LOCKER, file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(locker);
    await once(locker.stdout, 'data');
    await expect(database.write(INSERT, row('a'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: expect.objectContaining({ message: expect.stringContaining('SQLITE_BUSY') }),
    });
    const gone = once(locker, 'exit');
    locker.kill('SIGKILL');
    await gone;
    await database.write(INSERT, row('b'));
    expect(await idsIn(database)).toEqual(['b']);
  });

  it('closes only when the writers that are in are through', async () => {
    const extra = await openDatabase({ type: 'sqlite', file });
    const write = extra.write(INSERT, row('a'));
    await extra.close();
    await write;
    expect(await idsIn(database)).toEqual(['a']);
    await expect(extra.write(INSERT, row('b'))).rejects.toBeInstanceOf(AppError);
  });

  describe('that is full', () => {
    /** The writing connection itself, because the limit on pages belongs to a connection. */
    let writer: DataSource;
    let full: Database;

    beforeEach(async () => {
      writer = new DataSource(writerOptions({ type: 'sqlite', file }));
      const reader = new DataSource(readerOptions(file));
      await writer.initialize();
      await reader.initialize();
      full = new Database(writer, reader, 'sqlite');
      const [pages] = await writer.query<{ page_count: number }[]>('PRAGMA page_count');
      await writer.query(`PRAGMA max_page_count = ${(pages?.page_count ?? 0) + 4}`);
    });

    afterEach(() => full.close());

    const big = 'x'.repeat(100_000);

    it('says storage_full, keeps what was acknowledged, and writes again when there is room', async () => {
      await full.write(INSERT, row('a'));
      await expect(full.write(INSERT, row('b', big))).rejects.toMatchObject({
        code: 'storage_full',
      });
      await full.write(INSERT, row('c'));
      expect(await idsIn(database)).toEqual(['a', 'c']);
      await writer.query('PRAGMA max_page_count = 1000000');
      await full.write(INSERT, row('b', big));
      expect(await idsIn(database)).toEqual(['a', 'b', 'c']);
    });

    it('rolls a whole transaction back, says why, and harms no neighbour', async () => {
      const settled = await Promise.allSettled([
        full.write(INSERT, row('a')),
        full.transaction(async (transaction) => {
          await transaction.write(INSERT, row('b1'));
          await transaction.write(INSERT, row('b2', big));
        }),
        full.transaction((transaction) => transaction.write(INSERT, row('c'))),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(settled[1]).toMatchObject({ reason: { code: 'storage_full' } });
      expect(await idsIn(database)).toEqual(['a', 'c']);
      const [check] = await database.read('PRAGMA integrity_check');
      expect(check).toEqual({ integrity_check: 'ok' });
    });
  });
});

describe('the settings that durability rests on', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-pragma-'));
    file = join(folder, 'steward.sqlite');
  });

  afterEach(() => rm(folder, { recursive: true }));

  it.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2],
    ['busy_timeout', 5000],
    ['foreign_keys', 1],
  ])('%s is %s on the connection that writes', async (pragma, expected) => {
    const database = await openDatabase({ type: 'sqlite', file });
    try {
      // Only a write goes over the writing connection, and RETURNING makes the driver hand rows out.
      const { rows } = await database.write(`PRAGMA ${pragma} /* RETURNING */`);
      expect(Object.values(rows[0] ?? {})).toEqual([expected]);
    } finally {
      await database.close();
    }
  });

  it('a file on which they cannot be had is refused', async () => {
    // ":memory:" has no write-ahead log.
    await expect(openDatabase({ type: 'sqlite', file: ':memory:' })).rejects.toMatchObject({
      code: 'storage_unavailable',
      detail: expect.stringContaining('journal_mode'),
    });
  });

  it('a file that is no database is refused, and its path is not told', async () => {
    await writeFile(file, 'this is no database, whatever its name says '.repeat(100));
    const refusal = await openDatabase({ type: 'sqlite', file }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'storage_unavailable' });
    expect((refusal as AppError).detail).not.toContain(folder);
  });

  it('an acknowledged write is in the files, not only in this process', async () => {
    const database = await openDatabase({ type: 'sqlite', file });
    await database.write(INSERT, row('a'));
    const other = await new Promise<sqlite3.Database>((resolve) => {
      const opened = new sqlite3.Database(file, sqlite3.OPEN_READONLY, () => resolve(opened));
    });
    const seen = await new Promise((resolve) => {
      other.all('SELECT id FROM recordings', (_error, rows) => resolve(rows));
    });
    expect(seen).toEqual([{ id: 'a' }]);
    await new Promise<void>((resolve) => {
      other.close(() => resolve());
    });
    await database.close();
  });
});

describeOnPostgres('transactions on PostgreSQL', () => {
  let database: Database;
  let admin: Database;
  let drop: () => Promise<void>;

  beforeEach(async () => {
    const created = await createPostgresDatabase();
    ({ drop } = created);
    await migratePostgres(created.config);
    database = await openDatabase(created.config);
    admin = await openDatabase(created.config);
  });

  afterEach(async () => {
    await database.close();
    await admin.close();
    await drop();
  });

  it('lose exactly what was rolled back (Q28)', async () => {
    await Promise.allSettled([
      database.transaction(async (transaction) => {
        await transaction.write(INSERT, row('a'));
        throw new Error('a thinks better of it');
      }),
      database.transaction((transaction) => transaction.write(INSERT, row('b'))),
      database.write(INSERT, row('c')),
    ]);
    expect(await idsIn(database)).toEqual(['b', 'c']);
  });

  it('cut in the middle by the server keep nothing, and the next one has a new connection', async () => {
    const cut = database.transaction(async (transaction) => {
      await transaction.write(INSERT, row('a'));
      await admin.write(`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() /* RETURNING */`);
      await transaction.write(INSERT, row('b'));
    });
    await expect(cut).rejects.toMatchObject({ code: 'storage_unavailable' });
    await database.write(INSERT, row('c'));
    expect(await idsIn(admin)).toEqual(['c']);
  });
});

/** Failing statements whose parameters hold a text that must not get out. */
function describeSecrecy(
  open: () => Promise<{ database: Database; close(): Promise<void> }>,
): void {
  const CANARY = 'canary-7f3a';
  let database: Database;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ database, close } = await open());
    await database.write(INSERT, row('a', CANARY));
  });

  afterAll(() => close());

  const failing: [string, () => Promise<unknown>][] = [
    ['a doubled key', () => database.write(INSERT, row('a', CANARY))],
    [
      'a check that is violated',
      () => database.write('UPDATE recordings SET state = :state', { state: CANARY }),
    ],
    [
      'a value that must not be missing',
      () => database.write('UPDATE recordings SET sender = NULL, prompt = :p', { p: CANARY }),
    ],
    ['a table that is not there', () => database.write('UPDATE nowhere SET x = :x', { x: CANARY })],
    [
      'a reference to nothing',
      () =>
        database.write(
          'INSERT INTO transcripts (recording_id, body, created_at) VALUES (:id, :body, 0)',
          { id: CANARY, body: CANARY },
        ),
    ],
    [
      'a failed reading',
      () => database.read('SELECT nothing FROM nowhere WHERE a = :a', { a: CANARY }),
    ],
    [
      'a failed transaction',
      () => database.transaction((transaction) => transaction.write(INSERT, row('a', CANARY))),
    ],
  ];

  it.each(failing)('%s does not tell its parameters', async (_what, fail) => {
    const error = await fail().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    const told = inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error);
    expect(told).not.toContain(CANARY);
    expect((error as AppError).cause).toBeDefined();
  });
}

describe('a failed statement on SQLite', () => {
  describeSecrecy(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-secret-'));
    const database = await openDatabase({ type: 'sqlite', file: join(folder, 'steward.sqlite') });
    return {
      database,
      close: async () => {
        await database.close();
        await rm(folder, { recursive: true });
      },
    };
  });
});

describeOnPostgres('a failed statement on PostgreSQL', () => {
  describeSecrecy(async () => {
    const { config, drop } = await createPostgresDatabase();
    await migratePostgres(config);
    const database = await openDatabase(config);
    return {
      database,
      close: async () => {
        await database.close();
        await drop();
      },
    };
  });
});
