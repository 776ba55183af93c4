import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { FakeClock } from '../../../test/fakes/fake-clock';
import { FakeS3 } from '../../../test/fakes/fake-s3';
import { parseS3Location } from './s3-location';
import { S3BlobStore } from './s3.blob-store';

describe('S3BlobStore', () => {
  let staging: string;
  let s3: FakeS3;
  let clock: FakeClock;
  let store: S3BlobStore;

  beforeAll(() => {
    process.env.AWS_ACCESS_KEY_ID = 'test';
    process.env.AWS_SECRET_ACCESS_KEY = 'test-secret';
  });

  beforeEach(async () => {
    staging = await mkdtemp(join(tmpdir(), 's3-blob-store-'));
    s3 = await FakeS3.start();
    clock = new FakeClock(Date.now());
    const location = parseS3Location(`s3://recordings/our/place?endpoint=${s3.endpoint}`);
    store = new S3BlobStore(location, staging, clock);
  });

  afterEach(async () => {
    await s3.close();
    await rm(staging, { recursive: true, force: true });
  });

  const put = async (key: string, bytes: Buffer): Promise<void> => {
    await (await store.stage(Readable.from([bytes]))).commit(key);
  };
  const keys = async (prefix: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key } of store.list(prefix)) {
      found.push(key);
    }
    return found;
  };

  it('keeps everything under its prefix', async () => {
    await put('a/key', Buffer.from('bytes'));
    expect([...s3.objects.keys()]).toEqual(['our/place/a/key']);
    expect((await buffer(await store.read('a/key'))).toString()).toBe('bytes');
  });

  it('lists page after page, without what is not its own', async () => {
    s3.pageSize = 3;
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) {
      await put(`list/${name}`, Buffer.from(name));
    }
    const foreign = { body: Buffer.from('foreign'), at: new Date() };
    s3.objects.set('our/place/list/Foreign Name', foreign);
    s3.objects.set('other/place/list/h', foreign);

    expect(await keys('list/')).toEqual(names.map((name) => `list/${name}`));
    expect(s3.calls.filter((call) => call === 'ListObjectsV2').length).toBeGreaterThan(2);
  });

  it('sends a large file in parts and a small one whole', async () => {
    await put('small', Buffer.alloc(1000));
    expect(s3.calls).toEqual(['PutObject']);
    await put('large', Buffer.alloc(20 * 1024 * 1024, 1));
    expect(s3.calls.filter((call) => call === 'UploadPart')).toHaveLength(3);
    expect(s3.objects.get('our/place/large')?.body).toHaveLength(20 * 1024 * 1024);
  });

  it('keeps the staged bytes after a failed commit, so that it can be tried again', async () => {
    s3.misbehave('PutObject', { kind: 'status', status: 403, code: 'AccessDenied' }, 1);
    const staged = await store.stage(Readable.from(['bytes']));
    await expect(staged.commit('key')).rejects.toMatchObject({ code: 'storage_unavailable' });
    await staged.commit('key');
    expect((await buffer(await store.read('key'))).toString()).toBe('bytes');
    expect(await readdir(staging)).toEqual([]);
  });

  it('says that the storage is full when the server does', async () => {
    s3.misbehave('PutObject', { kind: 'status', status: 507, code: 'XMinioStorageFull' });
    const staged = await store.stage(Readable.from(['bytes']));
    await expect(staged.commit('key')).rejects.toMatchObject({ code: 'storage_full' });
  });

  it('calls the storage unavailable, and no recording lost, when the bucket is gone', async () => {
    await put('key', Buffer.from('bytes'));
    s3.loseBucket();
    const unavailable = { code: 'storage_unavailable' };
    await expect(store.size('key')).rejects.toMatchObject(unavailable);
    await expect(store.read('key')).rejects.toMatchObject(unavailable);
    await expect(store.localCopy('key')).rejects.toMatchObject(unavailable);
    await expect(store.delete('key')).rejects.toMatchObject(unavailable);
    await expect(keys('')).rejects.toMatchObject(unavailable);
    await expect(store.check()).rejects.toMatchObject(unavailable);
  });

  it('sweeps uploads in parts that nobody finished: old ones, or all when told so', async () => {
    s3.pageSize = 1;
    const hoursAgo = (hours: number): Date => new Date(clock.now() - hours * 3_600_000);
    const parts = new Map<number, Buffer>();
    s3.uploads.set('old', { key: 'our/place/a', at: hoursAgo(25), parts });
    s3.uploads.set('young', { key: 'our/place/b', at: hoursAgo(23), parts });
    s3.uploads.set('older', { key: 'our/place/c', at: hoursAgo(50), parts });
    s3.uploads.set('foreign', { key: 'other/place/a', at: hoursAgo(50), parts });

    expect(await store.sweepStaging(false)).toBe(2);
    expect([...s3.uploads.keys()]).toEqual(['young', 'foreign']);
    expect(await store.sweepStaging(true)).toBe(1);
    expect([...s3.uploads.keys()]).toEqual(['foreign']);
  });

  it('checks that objects can be written and removed, and fails when one cannot', async () => {
    await store.check();
    expect(s3.calls).toEqual(['PutObject', 'DeleteObject']);
    expect(s3.objects.size).toBe(0);
    s3.misbehave('DeleteObject', { kind: 'status', status: 403, code: 'AccessDenied' });
    await expect(store.check()).rejects.toMatchObject({ code: 'storage_unavailable' });
  });
});
