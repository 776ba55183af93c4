import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FakeClock } from '../../../test/fakes/fake-clock';
import { FileBlobStore } from './file.blob-store';

describe('FileBlobStore', () => {
  let folder: string;
  let root: string;
  let store: FileBlobStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'file-blob-store-'));
    root = join(folder, 'new', 'data');
    store = new FileBlobStore(root, new FakeClock());
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (key: string, text = 'bytes'): Promise<void> => {
    await (await store.stage(Readable.from([text]))).commit(key);
  };
  const keys = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key } of store.list('')) {
      found.push(key);
    }
    return found;
  };

  it('keeps a blob as a file only its own account can read', async () => {
    await put('a/b/key');
    expect((await stat(join(root, 'blobs/a/b/key'))).mode & 0o777).toBe(0o600);
    for (const path of ['', 'staging', 'blobs', 'blobs/a', 'blobs/a/b']) {
      expect((await stat(join(root, path))).mode & 0o777).toBe(0o700);
    }
  });

  it('lends the stored file itself as the local copy', async () => {
    await put('a/key');
    const copy = await store.localCopy('a/key');
    expect(copy.path).toBe(join(root, 'blobs/a/key'));
    await copy.release();
    expect(await store.size('a/key')).toBe(5);
  });

  it('syncs the file before, and every folder above it after the rename', async () => {
    await store.check();
    const handle = await open(root, 'r');
    const sync = jest.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync');
    try {
      await handle.close();
      const staged = await store.stage(Readable.from(['bytes']));
      expect(sync).toHaveBeenCalledTimes(1);
      await staged.commit('a/b/key');
      expect(sync).toHaveBeenCalledTimes(1 + ['blobs/a/b', 'blobs/a', 'blobs'].length);
    } finally {
      sync.mockRestore();
    }
  });

  it('removes the folders that a delete leaves empty, and no other', async () => {
    await put('a/b/c/one');
    await put('a/two');
    await store.delete('a/b/c/one');
    expect(await readdir(join(root, 'blobs/a'))).toEqual(['two']);
    await store.delete('a/two');
    expect(await readdir(join(root, 'blobs'))).toEqual([]);
  });

  it('lists neither foreign names nor what is not a file', async () => {
    await put('key');
    await writeFile(join(root, 'blobs/.nfs0001'), 'left by a network disk');
    await writeFile(join(root, 'blobs/Thumbs.db'), 'left by a desktop');
    await mkdir(join(root, 'blobs/lost+found'));
    expect(await keys()).toEqual(['key']);
  });

  it('sweeps only what is older than a day while others work', async () => {
    const clock = new FakeClock(Date.now());
    store = new FileBlobStore(root, clock);
    await store.stage(Readable.from(['young']));
    await writeFile(join(root, 'staging/old'), 'old');
    const twoDaysAgo = clock.now() / 1000 - 2 * 86_400;
    await utimes(join(root, 'staging/old'), twoDaysAgo, twoDaysAgo);

    expect(await store.sweepStaging(false)).toBe(1);
    expect(await readdir(join(root, 'staging'))).not.toContain('old');
    expect(await readdir(join(root, 'staging'))).toHaveLength(1);
  });

  describe('when the disk with the blobs was taken away', () => {
    const unavailable = { code: 'storage_unavailable' };

    beforeEach(async () => {
      await put('key');
      await rename(join(root, 'blobs'), join(root, 'elsewhere'));
    });

    it('says so instead of calling every recording lost', async () => {
      await expect(store.size('key')).rejects.toMatchObject(unavailable);
      await expect(store.read('key')).rejects.toMatchObject(unavailable);
      await expect(store.localCopy('key')).rejects.toMatchObject(unavailable);
      await expect(store.delete('key')).rejects.toMatchObject(unavailable);
      await expect(keys()).rejects.toMatchObject(unavailable);
      await expect(store.check()).rejects.toMatchObject(unavailable);
    });

    it('writes nothing beside it, and goes on when it is back', async () => {
      const staged = await store.stage(Readable.from(['new']));
      await expect(staged.commit('new')).rejects.toMatchObject(unavailable);
      expect(await readdir(root)).not.toContain('blobs');

      await rename(join(root, 'elsewhere'), join(root, 'blobs'));
      await staged.commit('new');
      expect((await keys()).sort()).toEqual(['key', 'new']);
    });
  });

  describe('when its folder cannot be made', () => {
    beforeEach(() => writeFile(join(folder, 'new'), 'a file where a folder should be'));

    it('fails with a meaning, destroys the source, and recovers without a restart', async () => {
      const source = Readable.from(['bytes']);
      await expect(store.stage(source)).rejects.toMatchObject({ code: 'storage_unavailable' });
      expect(source.destroyed).toBe(true);
      await expect(store.check()).rejects.toMatchObject({ code: 'storage_unavailable' });
      await expect(store.freeBytes()).rejects.toMatchObject({ code: 'storage_unavailable' });

      await rm(join(folder, 'new'));
      await expect(store.check()).resolves.toBeUndefined();
    });

    it('does not tell the path to whoever asked', async () => {
      const failure = await store.check().catch((error: unknown) => error);
      expect(failure).toMatchObject({ detail: 'The storage does not answer' });
      expect(String(failure)).not.toContain(folder);
    });
  });
});
