import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../../src/common/storage/blob-store.port';
import { FileBlobStore } from '../../src/common/storage/file.blob-store';
import { parseS3Location } from '../../src/common/storage/s3-location';
import { S3_LIMITS, type S3Limits } from '../../src/common/storage/s3-client';
import { S3BlobStore } from '../../src/common/storage/s3.blob-store';
import { type BlobStoreHarness, describeBlobStoreContract } from '../contracts/blob-store.contract';
import { FakeClock } from '../fakes/fake-clock';
import { FakeS3, type S3Fault } from '../fakes/fake-s3';

const MEGABYTE = 1024 * 1024;

process.env.AWS_ACCESS_KEY_ID = 'test';
process.env.AWS_SECRET_ACCESS_KEY = 'test-secret';

const filesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

async function bytesIn(folder: string): Promise<number> {
  const sizes = (await filesIn(folder)).map(async (name) => (await stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function openS3Store(
  s3: FakeS3,
  staging: string,
  clock: FakeClock,
  limits?: S3Limits,
): S3BlobStore {
  return new S3BlobStore(
    parseS3Location(`s3://recordings?endpoint=${s3.endpoint}`),
    staging,
    clock,
    limits,
  );
}

describeBlobStoreContract('FileBlobStore', async (): Promise<BlobStoreHarness> => {
  const root = await mkdtemp(join(tmpdir(), 'blob-store-'));
  const staging = join(root, 'staging');
  const clock = new FakeClock(Date.now());
  return {
    store: new FileBlobStore(root, clock),
    clock,
    leftovers: () => filesIn(staging),
    stagedBytes: () => bytesIn(staging),
    close: () => rm(root, { recursive: true, force: true }),
  };
});

describeBlobStoreContract('S3BlobStore', async (): Promise<BlobStoreHarness> => {
  const staging = await mkdtemp(join(tmpdir(), 'blob-store-'));
  const s3 = await FakeS3.start();
  const clock = new FakeClock(Date.now());
  return {
    store: openS3Store(s3, staging, clock),
    clock,
    leftovers: async () => [...(await filesIn(staging)), ...s3.uploads.keys()],
    stagedBytes: () => bytesIn(staging),
    close: async () => {
      await s3.close();
      await rm(staging, { recursive: true, force: true });
    },
  };
});

describe('S3BlobStore with a server that fails', () => {
  const unavailable = { code: 'storage_unavailable' };
  const bytes = randomBytes(300_000);
  let staging: string;
  let s3: FakeS3;
  let clock: FakeClock;
  let store: BlobStore;

  beforeEach(async () => {
    staging = await mkdtemp(join(tmpdir(), 'blob-store-'));
    s3 = await FakeS3.start();
    clock = new FakeClock();
    store = openS3Store(s3, staging, clock, { ...S3_LIMITS, attempts: 2 });
    await (await store.stage(Readable.from([bytes]))).commit('key');
    s3.calls.length = 0;
  });

  afterEach(async () => {
    await s3.close();
    await rm(staging, { recursive: true, force: true });
  });

  const passing: S3Fault[] = [
    { kind: 'status', status: 500, code: 'InternalError' },
    { kind: 'status', status: 503, code: 'SlowDown' },
    { kind: 'reset' },
  ];

  describe.each(passing)('by %j', (fault) => {
    it('tries again and succeeds when the server recovers', async () => {
      s3.misbehave('PutObject', fault, 1);
      s3.misbehave('GetObject', fault, 1);
      s3.misbehave('HeadObject', fault, 1);
      const staged = await store.stage(Readable.from([bytes]));
      await staged.commit('again');
      expect((await buffer(await store.read('again'))).equals(bytes)).toBe(true);
      expect(await store.size('again')).toBe(bytes.length);
    });

    it('gives up after its attempts, and then the storage is unavailable', async () => {
      for (const operation of ['PutObject', 'GetObject', 'HeadObject'] as const) {
        s3.misbehave(operation, fault);
      }
      s3.misbehave('DeleteObject', fault);
      s3.misbehave('ListObjectsV2', fault);
      const staged = await store.stage(Readable.from([bytes]));
      await expect(staged.commit('never')).rejects.toMatchObject(unavailable);
      await expect(store.size('key')).rejects.toMatchObject(unavailable);
      await expect(store.read('key')).rejects.toMatchObject(unavailable);
      await expect(store.localCopy('key')).rejects.toMatchObject(unavailable);
      await expect(store.delete('key')).rejects.toMatchObject(unavailable);
      await expect(store.list('')[Symbol.asyncIterator]().next()).rejects.toMatchObject(
        unavailable,
      );
      await expect(store.check()).rejects.toMatchObject(unavailable);
      expect(s3.calls.filter((call) => call === 'HeadObject')).toHaveLength(2);

      await staged.discard();
      expect(await readdir(staging)).toEqual([]);
      expect(s3.objects.has('never')).toBe(false);
    });
  });

  describe('by silence', () => {
    const impatient = { ...S3_LIMITS, idleMs: 300, attempts: 3 };

    beforeEach(() => {
      store = openS3Store(s3, staging, clock, impatient);
    });

    it('tries again and succeeds when the server recovers', async () => {
      s3.misbehave('GetObject', { kind: 'hang' }, 1);
      expect((await buffer(await store.read('key'))).equals(bytes)).toBe(true);
    });

    it('gives up after its attempts, and then the storage is unavailable', async () => {
      s3.misbehave('PutObject', { kind: 'hang' });
      s3.misbehave('HeadObject', { kind: 'hang' });
      const staged = await store.stage(Readable.from([bytes]));
      await expect(staged.commit('never')).rejects.toMatchObject(unavailable);
      await expect(store.size('key')).rejects.toMatchObject(unavailable);
      expect(s3.calls.filter((call) => call === 'HeadObject')).toHaveLength(3);
    });

    it('gives up when one attempt takes too long, though bytes may still flow', async () => {
      store = openS3Store(s3, staging, clock, { ...impatient, idleMs: 60_000, answerMs: 300 });
      s3.misbehave('HeadObject', { kind: 'hang' });
      await expect(store.size('key')).rejects.toMatchObject(unavailable);
    });

    it('gives up when all attempts together take too long', async () => {
      store = openS3Store(s3, staging, clock, { ...S3_LIMITS, callMs: 1000 });
      s3.misbehave('HeadObject', { kind: 'hang' });
      const asking = expect(store.size('key')).rejects.toMatchObject(unavailable);
      while (s3.calls.length === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await clock.advance(1000);
      await asking;
      expect(clock.pendingTimers).toBe(0);
    });

    it('makes a body that stops an error and no short file', async () => {
      s3.misbehave('GetObject', { kind: 'stall', afterBytes: 100_000 });
      await expect(buffer(await store.read('key'))).rejects.toMatchObject(unavailable);
      await expect(store.localCopy('key')).rejects.toMatchObject(unavailable);
      expect(await readdir(staging)).toEqual([]);
    });
  });

  it('makes a body that is cut an error and no short file', async () => {
    s3.misbehave('GetObject', { kind: 'cut', afterBytes: 100_000 });
    await expect(buffer(await store.read('key'))).rejects.toMatchObject(unavailable);
    await expect(store.localCopy('key')).rejects.toMatchObject(unavailable);
    expect(await readdir(staging)).toEqual([]);
  });

  it('gives up the upload in parts when one part fails for good', async () => {
    s3.misbehave('UploadPart', { kind: 'status', status: 500, code: 'InternalError' });
    const staged = await store.stage(Readable.from([Buffer.alloc(20 * MEGABYTE)]));
    await expect(staged.commit('large')).rejects.toMatchObject(unavailable);
    expect(s3.uploads.size).toBe(0);
    expect(s3.objects.has('large')).toBe(false);
    await staged.discard();
    expect(await readdir(staging)).toEqual([]);
  });

  it('ends a transfer that takes too long, whatever the server sends meanwhile', async () => {
    store = openS3Store(s3, staging, clock, { ...S3_LIMITS, transferMs: 1000 });
    s3.misbehave('GetObject', { kind: 'stall', afterBytes: 100_000 });
    const copying = expect(store.localCopy('key')).rejects.toMatchObject(unavailable);
    while (!s3.calls.includes('GetObject')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await clock.advance(1000);
    await copying;
    expect(await readdir(staging)).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends an upload that takes too long, and keeps the bytes for another try', async () => {
    store = openS3Store(s3, staging, clock, { ...S3_LIMITS, transferMs: 1000 });
    s3.misbehave('UploadPart', { kind: 'hang' }, 1);
    const staged = await store.stage(Readable.from([Buffer.alloc(9 * MEGABYTE)]));
    const committing = expect(staged.commit('large')).rejects.toMatchObject(unavailable);
    while (!s3.calls.includes('UploadPart')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await clock.advance(1000);
    await committing;
    expect(clock.pendingTimers).toBe(0);

    await staged.commit('large');
    expect(await store.size('large')).toBe(9 * MEGABYTE);
  });

  it('ends a copy with the reason of the signal', async () => {
    store = openS3Store(s3, staging, clock);
    s3.misbehave('GetObject', { kind: 'stall', afterBytes: 100_000 });
    const abort = new AbortController();
    const reason = new Error('the claim was lost');
    const copying = expect(store.localCopy('key', abort.signal)).rejects.toBe(reason);
    while (!s3.calls.includes('GetObject')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    abort.abort(reason);
    await copying;
    expect(await readdir(staging)).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is unavailable when nobody listens', async () => {
    await s3.close();
    await expect(store.size('key')).rejects.toMatchObject(unavailable);
    s3 = await FakeS3.start();
  });
});

/** A disk of one megabyte, or undefined where this account may not mount one. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    process.stderr.write('SKIPPED: a full disk; only root may mount the small one it needs\n');
    return undefined;
  }
}

const smallDisk = mountSmallDisk();

(smallDisk === undefined ? describe.skip : describe)('on a full disk', () => {
  const disk = smallDisk ?? '';
  const full = { code: 'storage_full' };
  const tooMuch = (): Readable =>
    Readable.from([Buffer.alloc(MEGABYTE / 2), Buffer.alloc(MEGABYTE / 2), Buffer.alloc(MEGABYTE)]);

  afterEach(async () => {
    for (const name of await readdir(disk)) {
      await rm(join(disk, name), { recursive: true });
    }
  });

  afterAll(() => {
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });

  it('the file store says so, leaves nothing, and takes what fits', async () => {
    const store = new FileBlobStore(disk, new FakeClock());
    const source = tooMuch();
    await expect(store.stage(source)).rejects.toMatchObject(full);
    expect(source.destroyed).toBe(true);
    expect(await readdir(join(disk, 'staging'))).toEqual([]);
    expect(await store.freeBytes()).toBeGreaterThan(MEGABYTE / 2);

    await (await store.stage(Readable.from([Buffer.alloc(MEGABYTE / 2)]))).commit('fits');
    expect(await store.size('fits')).toBe(MEGABYTE / 2);
    expect(await store.freeBytes()).toBeLessThanOrEqual(MEGABYTE / 2);
  });

  it('the S3 store says so while staging and while copying, and leaves nothing', async () => {
    const s3 = await FakeS3.start();
    try {
      const store = openS3Store(s3, disk, new FakeClock());
      await expect(store.stage(tooMuch())).rejects.toMatchObject(full);
      expect(await readdir(disk)).toEqual([]);

      s3.objects.set('large', { body: Buffer.alloc(2 * MEGABYTE), at: new Date() });
      await expect(store.localCopy('large')).rejects.toMatchObject(full);
      expect(await readdir(disk)).toEqual([]);
    } finally {
      await s3.close();
    }
  });
});
