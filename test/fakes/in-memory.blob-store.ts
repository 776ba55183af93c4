import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Clock } from '../../src/common/clock/clock';
import { AppError } from '../../src/common/errors/app-error';
import {
  BlobStore,
  type ByteRange,
  type LocalCopy,
  type ScratchFile,
  type StagedBlob,
  type StoredBlob,
} from '../../src/common/storage/blob-store.port';

type Method = 'stage' | 'scratchFile' | 'size' | 'localCopy' | 'delete' | 'commit' | 'list';

/**
 * Blobs in memory, for unit tests. What needs a path lies in a temporary folder, and is counted, so that
 * a test can see that everything was given back. Call `dispose` at the end.
 */
export class InMemoryBlobStore extends BlobStore {
  readonly blobs = new Map<string, { readonly bytes: Buffer; readonly changedAt: number }>();
  /** Answers of the next sweeps of the staging place. */
  leftInStaging = 0;
  /** How often `sweepStaging` was asked, with its argument. */
  readonly sweeps: boolean[] = [];
  /** Local copies that were handed out and not given back. */
  copiesOut = 0;
  private readonly folder = mkdtempSync(join(tmpdir(), 'steward-blobs-'));
  private readonly faults = new Map<Method, unknown>();

  constructor(private readonly clock: Clock) {
    super();
  }

  /** Lets `method` fail until `heal`. */
  break(method: Method, error: unknown = new AppError('storage_unavailable')): void {
    this.faults.set(method, error);
  }

  heal(method: Method): void {
    this.faults.delete(method);
  }

  put(key: string, bytes: Buffer | string = 'bytes', changedAt = this.clock.now()): void {
    this.blobs.set(key, { bytes: Buffer.from(bytes), changedAt });
  }

  get keys(): string[] {
    return [...this.blobs.keys()].sort();
  }

  /** Names of scratch files that nobody has removed. */
  async scratchFiles(): Promise<string[]> {
    return readdir(this.folder);
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async stage(source: Readable, signal?: AbortSignal): Promise<StagedBlob> {
    this.called('stage');
    signal?.throwIfAborted();
    return this.staged(await buffer(source));
  }

  async scratchFile(extension: string): Promise<ScratchFile> {
    this.called('scratchFile');
    const path = join(this.folder, `${randomUUID()}.${extension}`);
    return {
      path,
      adopt: async () => this.staged(await readFile(path)),
      discard: () => rm(path, { force: true }),
    };
  }

  async size(key: string): Promise<number | null> {
    this.called('size');
    return this.blobs.get(key)?.bytes.length ?? null;
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const bytes = this.bytesOf(key);
    return Readable.from([
      range === undefined ? bytes : bytes.subarray(range.start, range.end + 1),
    ]);
  }

  async localCopy(key: string, signal?: AbortSignal): Promise<LocalCopy> {
    this.called('localCopy');
    signal?.throwIfAborted();
    const path = join(this.folder, randomUUID());
    await writeFile(path, this.bytesOf(key));
    this.copiesOut += 1;
    return {
      path,
      release: async () => {
        this.copiesOut -= 1;
        await rm(path);
      },
    };
  }

  async delete(key: string): Promise<void> {
    this.called('delete');
    this.blobs.delete(key);
  }

  async *list(prefix: string): AsyncGenerator<StoredBlob> {
    this.called('list');
    for (const [key, { bytes, changedAt }] of [...this.blobs]) {
      if (key.startsWith(prefix)) {
        yield { key, sizeBytes: bytes.length, changedAt };
      }
    }
  }

  async sweepStaging(all: boolean): Promise<number> {
    this.sweeps.push(all);
    return this.leftInStaging;
  }

  async freeBytes(): Promise<number | null> {
    return null;
  }

  async check(): Promise<void> {
    this.called('list');
  }

  private called(method: Method): void {
    if (this.faults.has(method)) {
      throw this.faults.get(method);
    }
  }

  private bytesOf(key: string): Buffer {
    const blob = this.blobs.get(key);
    if (blob === undefined) {
      throw new AppError('audio_missing');
    }
    return blob.bytes;
  }

  private staged(bytes: Buffer): StagedBlob {
    return {
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      commit: async (key) => {
        this.called('commit');
        this.put(key, bytes);
      },
      discard: async () => undefined,
    };
  }
}
