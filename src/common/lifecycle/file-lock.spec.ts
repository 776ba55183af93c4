import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileLock } from './file-lock';

/** Another process that takes the lock as FileLock does, tells so, and then hangs. */
const HOLDER = `
  const sqlite3 = require('sqlite3');
  const db = new sqlite3.Database(process.argv[1]);
  db.serialize(() => {
    db.run(process.argv[2]);
    db.all('SELECT count(*) FROM sqlite_master', () => process.stdout.write('held'));
  });
  setInterval(() => undefined, 1000);
`;

describe('FileLock', () => {
  let folder: string;
  let path: string;
  const locks: FileLock[] = [];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-lock-'));
    path = join(folder, 'not', 'yet', 'there', 'some.lock');
  });

  afterEach(async () => {
    await Promise.all(locks.splice(0).map((lock) => lock.close()));
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
    }
    await rm(folder, { recursive: true });
  });

  async function open(): Promise<FileLock> {
    const lock = await FileLock.open(path);
    locks.push(lock);
    return lock;
  }

  async function holderProcess(begin: 'BEGIN EXCLUSIVE' | 'BEGIN'): Promise<ChildProcess> {
    const child = spawn(process.execPath, ['-e', HOLDER, path, begin], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await once(child.stdout, 'data');
    return child;
  }

  async function kill9(child: ChildProcess): Promise<void> {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  it('is held exclusively by one', async () => {
    const [first, second] = [await open(), await open()];
    expect(await first.tryExclusive()).toBe(true);
    expect(await second.tryExclusive()).toBe(false);
    await first.release();
    expect(await second.tryExclusive()).toBe(true);
  });

  it('is shared by many, and by nobody exclusively meanwhile', async () => {
    const [first, second, third] = [await open(), await open(), await open()];
    await first.share();
    await second.share();
    expect(await third.tryExclusive()).toBe(false);
    await first.release();
    expect(await third.tryExclusive()).toBe(false);
    await second.release();
    expect(await third.tryExclusive()).toBe(true);
  });

  it('lets a sharer in as soon as the exclusive holder lets go', async () => {
    const [holder, sharer] = [await open(), await open()];
    await holder.tryExclusive();
    let shared = false;
    const sharing = sharer.share().then(() => (shared = true));
    expect(await (await open()).tryExclusive()).toBe(false);
    expect(shared).toBe(false);
    await holder.release();
    await sharing;
    expect(await holder.tryExclusive()).toBe(false);
  });

  it('is free again after it was closed', async () => {
    const first = await FileLock.open(path);
    await first.tryExclusive();
    await first.close();
    expect(await (await open()).tryExclusive()).toBe(true);
  });

  it.each(['BEGIN EXCLUSIVE', 'BEGIN'] as const)(
    'dies with its holder in another process (%s)',
    async (begin) => {
      const lock = await open();
      const child = await holderProcess(begin);
      expect(await lock.tryExclusive()).toBe(false);
      await kill9(child);
      expect(await lock.tryExclusive()).toBe(true);
    },
  );

  it('says in our own words when the file cannot be had', async () => {
    await expect(FileLock.open('/dev/null/some.lock')).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });
});
