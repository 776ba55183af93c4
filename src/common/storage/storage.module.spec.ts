import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { AppConfig, loadConfig } from '../config/app-config';
import { BlobStore } from './blob-store.port';
import { FileBlobStore } from './file.blob-store';
import { S3BlobStore } from './s3.blob-store';
import { StorageModule } from './storage.module';

describe('StorageModule', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'storage-module-'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const resolveStore = async (settings: Record<string, string>): Promise<BlobStore> => {
    const building = Test.createTestingModule({ imports: [StorageModule] })
      .overrideProvider(AppConfig)
      .useValue(loadConfig({ DATA_DIR: folder, ...settings }));
    return (await building.compile()).get(BlobStore);
  };

  it('keeps blobs in the data folder without STORAGE_URL', async () => {
    const store = await resolveStore({});
    expect(store).toBeInstanceOf(FileBlobStore);
    await store.check();
    expect((await readdir(folder)).sort()).toEqual(['blobs', 'staging']);
  });

  it('keeps them in S3 with one', async () => {
    expect(await resolveStore({ STORAGE_URL: 's3://bucket?region=eu-west-1' })).toBeInstanceOf(
      S3BlobStore,
    );
  });

  it('does not start with a STORAGE_URL that makes no sense', async () => {
    await expect(resolveStore({ STORAGE_URL: 's3://No_Bucket' })).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });
});
