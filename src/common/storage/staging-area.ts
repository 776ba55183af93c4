import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, open, opendir, rm, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Clock } from '../clock/clock';
import { AppError } from '../errors/app-error';
import { makeFolder } from './durable-files';
import { isMissing, storageFailure, storing } from './storage-failure';

const FILE_MODE = 0o600;
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;
const HASH_PIECE_BYTES = 1024 * 1024;
/** One write is under way while the next pieces arrive and are hashed. */
const WRITE_BATCH_BYTES = 1_048_576;
const EXTENSION = /^[a-z0-9]{1,10}$/;

export interface StagedFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/**
 * A local folder of files that are being written or borrowed. Every name is made up here. Files need
 * not outlive the process, so nothing is synced; what a crash leaves is swept.
 */
export class StagingArea {
  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes `source` to a new file, one piece after the other, so that the source is never read
   * faster than the disk takes it. On failure the file is gone and the source destroyed.
   * @throws the source's own error, the signal's reason, AppError `storage_full` or `storage_unavailable`
   */
  async receive(source: Readable, signal?: AbortSignal): Promise<StagedFile> {
    const path = join(this.folder, randomUUID());
    // Nobody listens to the source while the file is being opened, and an unheard 'error' would
    // end the process; the loop that reads meets the same error again.
    source.on('error', () => undefined);
    try {
      signal?.throwIfAborted();
      if (signal !== undefined) {
        addAbortSignal(signal, source);
      }
      const file = await this.write(source, path);
      signal?.throwIfAborted();
      return file;
    } catch (error) {
      source.destroy();
      await this.removeQuietly(path);
      signal?.throwIfAborted();
      throw error;
    }
  }

  /** A path nobody uses, for a program to write to. `extension` is without the dot. */
  async reserve(extension: string): Promise<string> {
    if (!EXTENSION.test(extension)) {
      throw new AppError('internal', { cause: new Error('a file extension is not valid') });
    }
    await storing(makeFolder(this.folder));
    return join(this.folder, `${randomUUID()}.${extension}`);
  }

  /** Counts and hashes a file that a program wrote to a reserved path. */
  async measure(path: string): Promise<StagedFile> {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    try {
      const bytes = createReadStream(path, { highWaterMark: HASH_PIECE_BYTES });
      for await (const piece of bytes as AsyncIterable<Buffer>) {
        hash.update(piece);
        sizeBytes += piece.length;
      }
    } catch (error) {
      throw storageFailure(error);
    }
    return { path, sizeBytes, sha256: hash.digest('hex') };
  }

  /** Removes what is at `path`, if anything. */
  async remove(path: string): Promise<void> {
    await storing(rm(path, { recursive: true, force: true }));
  }

  /** As `remove`, for clean-up whose own failure must not hide the outcome; the sweep comes later. */
  async removeQuietly(path: string): Promise<void> {
    await this.remove(path).catch(() => undefined);
  }

  /** Removes every file, or only those untouched for a day. Returns how many. */
  sweep(all: boolean): Promise<number> {
    return storing(this.sweepFolder(all ? Infinity : this.clock.now() - ABANDONED_AFTER_MS));
  }

  /** @throws AppError when no file can be written, synced and removed right now */
  async probe(): Promise<void> {
    const path = join(this.folder, randomUUID());
    try {
      const file = await this.create(path);
      try {
        await storing(file.writeFile('probe'));
        await storing(file.sync());
      } finally {
        await storing(file.close());
      }
    } catch (error) {
      await this.removeQuietly(path);
      throw error;
    }
    await this.remove(path);
  }

  /** Free bytes of the disk, as an unprivileged program may use them. */
  async freeBytes(): Promise<number> {
    await storing(makeFolder(this.folder));
    const { bavail, bsize } = await storing(statfs(this.folder));
    return bavail * bsize;
  }

  private async create(path: string): Promise<FileHandle> {
    await storing(makeFolder(this.folder));
    return storing(open(path, 'wx', FILE_MODE));
  }

  private async write(source: Readable, path: string): Promise<StagedFile> {
    const file = await this.create(path);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    let batch: Uint8Array[] = [];
    let batchBytes = 0;
    let writing: Promise<void> = Promise.resolve();
    const writeBatch = async (): Promise<void> => {
      await writing;
      writing = storing(file.writeFile(Buffer.concat(batch)));
      writing.catch(() => undefined); // awaited before the next one and at the end
      batch = [];
      batchBytes = 0;
    };
    try {
      for await (const piece of source as AsyncIterable<Uint8Array | string>) {
        const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
        hash.update(bytes);
        sizeBytes += bytes.length;
        batch.push(bytes);
        batchBytes += bytes.length;
        if (batchBytes >= WRITE_BATCH_BYTES) {
          await writeBatch();
        }
      }
      await writeBatch();
      await writing;
    } finally {
      await writing.catch(() => undefined);
      await storing(file.close());
    }
    return { path, sizeBytes, sha256: hash.digest('hex') };
  }

  private async sweepFolder(untouchedSince: number): Promise<number> {
    let removed = 0;
    await makeFolder(this.folder);
    for await (const entry of await opendir(this.folder)) {
      const path = join(this.folder, entry.name);
      if (await isOlder(path, untouchedSince)) {
        await rm(path, { recursive: true, force: true });
        removed += 1;
      }
    }
    return removed;
  }
}

async function isOlder(path: string, epochMs: number): Promise<boolean> {
  try {
    return (await lstat(path)).mtimeMs < epochMs;
  } catch (error) {
    if (isMissing(error)) {
      return false;
    }
    throw error;
  }
}
