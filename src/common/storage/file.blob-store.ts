import type { Stats } from 'node:fs';
import { access, open, opendir, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Clock } from '../clock/clock';
import { AppError } from '../errors/app-error';
import { assertBlobKey, assertBlobKeyPrefix, isBlobKey } from './blob-key';
import {
  BlobStore,
  type ByteRange,
  type LocalCopy,
  type ScratchFile,
  type StagedBlob,
  type StoredBlob,
} from './blob-store.port';
import { assertByteRange, bytesInRange } from './byte-range';
import { checkedRead } from './checked-read';
import { makeFolder, moveFile, removeFile, syncFile, syncFolders } from './durable-files';
import { StagingArea, type StagedFile } from './staging-area';
import { isMissing, storageFailure, storing } from './storage-failure';

/**
 * Blobs as files: `<root>/blobs/<key>`, written in `<root>/staging` and moved by rename, so that a
 * reader sees the old bytes or the new ones and never a mixture. Both folders must be on one disk.
 */
export class FileBlobStore extends BlobStore {
  private readonly blobs: string;
  private readonly staging: StagingArea;
  private prepared: Promise<void> | undefined;

  constructor(root: string, clock: Clock) {
    super();
    this.blobs = join(resolve(root), 'blobs');
    this.staging = new StagingArea(join(resolve(root), 'staging'), clock);
  }

  async stage(source: Readable, signal?: AbortSignal): Promise<StagedBlob> {
    return this.staged(await this.staging.receive(source, signal));
  }

  async scratchFile(extension: string): Promise<ScratchFile> {
    const path = await this.staging.reserve(extension);
    return {
      path,
      adopt: async () => this.staged(await this.staging.measure(path)),
      discard: () => this.staging.remove(path),
    };
  }

  async size(key: string): Promise<number | null> {
    return (await this.statBlob(key))?.size ?? null;
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    assertByteRange(range);
    const file = await this.openBlob(key);
    try {
      const stats = await storing(file.stat());
      if (!stats.isFile()) {
        throw new AppError('audio_missing');
      }
      const expected = bytesInRange(stats.size, range);
      return checkedRead(file.createReadStream({ ...range }), expected);
    } catch (error) {
      await storing(file.close());
      throw error;
    }
  }

  async localCopy(key: string, signal?: AbortSignal): Promise<LocalCopy> {
    signal?.throwIfAborted();
    if ((await this.statBlob(key)) === null) {
      throw new AppError('audio_missing');
    }
    return { path: this.pathOf(key), release: async () => undefined };
  }

  async delete(key: string): Promise<void> {
    if ((await this.statBlob(key)) !== null) {
      await storing(removeFile(this.pathOf(key), this.blobs));
    }
  }

  async *list(prefix: string): AsyncGenerator<StoredBlob> {
    assertBlobKeyPrefix(prefix);
    await this.assertPresent();
    try {
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      for await (const key of this.walk(folder)) {
        const stats = key.startsWith(prefix) ? await this.statBlob(key) : null;
        if (stats !== null) {
          yield { key, sizeBytes: stats.size, changedAt: Math.floor(stats.mtimeMs) };
        }
      }
    } catch (error) {
      throw storageFailure(error);
    }
  }

  sweepStaging(all: boolean): Promise<number> {
    return this.staging.sweep(all);
  }

  freeBytes(): Promise<number> {
    return this.staging.freeBytes();
  }

  async check(): Promise<void> {
    await this.assertPresent();
    await this.staging.probe();
  }

  private pathOf(key: string): string {
    assertBlobKey(key);
    return join(this.blobs, key);
  }

  /**
   * Creates the folder of blobs, once in the life of the process: when it vanishes later, a disk was
   * taken away, and creating it anew would hide that and write beside the disk.
   */
  private prepare(): Promise<void> {
    this.prepared ??= this.createFolder().catch((error: unknown) => {
      this.prepared = undefined;
      throw storageFailure(error);
    });
    return this.prepared;
  }

  private async createFolder(): Promise<void> {
    const topmost = await makeFolder(this.blobs);
    await syncFolders(this.blobs, dirname(topmost ?? this.blobs));
  }

  /** Tells "this blob is gone" from "the whole store is gone". @throws AppError `storage_unavailable` */
  private async assertPresent(): Promise<void> {
    await this.prepare();
    await storing(access(this.blobs));
  }

  private async statBlob(key: string): Promise<Stats | null> {
    const path = this.pathOf(key);
    await this.prepare();
    try {
      const stats = await stat(path);
      return stats.isFile() ? stats : null;
    } catch (error) {
      if (!isMissing(error)) {
        throw storageFailure(error);
      }
      await this.assertPresent();
      return null;
    }
  }

  private async openBlob(key: string): Promise<FileHandle> {
    const path = this.pathOf(key);
    await this.prepare();
    try {
      return await open(path, 'r');
    } catch (error) {
      if (!isMissing(error)) {
        throw storageFailure(error);
      }
      await this.assertPresent();
      throw new AppError('audio_missing', { cause: error });
    }
  }

  private async staged(file: StagedFile): Promise<StagedBlob> {
    try {
      await syncFile(file.path);
    } catch (error) {
      await this.staging.removeQuietly(file.path);
      throw storageFailure(error);
    }
    return {
      sizeBytes: file.sizeBytes,
      sha256: file.sha256,
      commit: async (key) => {
        const target = this.pathOf(key);
        await this.assertPresent();
        await storing(moveFile(file.path, target, this.blobs));
      },
      discard: () => this.staging.remove(file.path),
    };
  }

  /** Keys of all files at and below `folder` (empty or with a slash at its end). */
  private async *walk(folder: string): AsyncGenerator<string> {
    try {
      for await (const entry of await opendir(join(this.blobs, folder))) {
        const key = folder + entry.name;
        if (entry.isDirectory()) {
          yield* this.walk(`${key}/`);
        } else if (entry.isFile() && isBlobKey(key)) {
          yield key;
        }
      }
    } catch (error) {
      // A delete may have removed the folder meanwhile.
      if (!isMissing(error)) {
        throw error;
      }
    }
  }
}
