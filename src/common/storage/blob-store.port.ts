import type { Readable } from 'node:stream';

/** Bytes that arrived whole but are not yet under their key. */
export interface StagedBlob {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /**
   * Puts the bytes under `key`, replacing what was there; when it resolves they survive a power cut.
   * @throws AppError `storage_full`, `storage_unavailable`
   */
  commit(key: string): Promise<void>;
  /** Forgets the bytes. Harmless after `commit` and when called twice. */
  discard(): Promise<void>;
}

/** A path for a program to write a file to. */
export interface ScratchFile {
  readonly path: string;
  /** Stages what the program wrote, without a copy; call it once, after the program has closed the file. */
  adopt(): Promise<StagedBlob>;
  /** Removes whatever the program left there. Harmless after `adopt` and `commit`, and when called twice. */
  discard(): Promise<void>;
}

/** A blob as a seekable local file, for programs that need a path. */
export interface LocalCopy {
  readonly path: string;
  /** Gives the copy back; must be called exactly once, also after a failure. */
  release(): Promise<void>;
}

/** First and last byte, both inclusive, as in HTTP; the part past the end of the blob is empty. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredBlob {
  readonly key: string;
  readonly sizeBytes: number;
  /** Wall time of the last change, milliseconds since the epoch. */
  readonly changedAt: number;
}

/**
 * Keeps the bytes of recordings. Keys are chosen by us, never by a client: slash-separated words of
 * `[a-z0-9._-]` that do not begin with a dot, 255 characters at most, and no key is the folder of
 * another. Every adapter passes test/contracts/blob-store.contract.ts.
 *
 * All methods throw AppError `storage_unavailable`, `storage_full` where bytes are written, and
 * `internal` for a key that is not valid.
 */
export abstract class BlobStore {
  /**
   * Streams `source` into a staging place while counting and hashing, with back pressure.
   * When `source` fails or `signal` aborts nothing stays behind and that error or the signal's reason
   * is thrown. Whatever fails, `source` is destroyed.
   */
  abstract stage(source: Readable, signal?: AbortSignal): Promise<StagedBlob>;

  /** `extension` is without the dot, for programs that choose a format by it. */
  abstract scratchFile(extension: string): Promise<ScratchFile>;

  /** Size in bytes, or null when there is no such blob. */
  abstract size(key: string): Promise<number | null>;

  /**
   * The caller reads the stream to its end or destroys it. The stream fails with an AppError, also when
   * it would end early.
   * @throws AppError `audio_missing` when there is no such blob
   */
  abstract read(key: string, range?: ByteRange): Promise<Readable>;

  /** @throws AppError `audio_missing` when there is no such blob; the signal's reason when aborted */
  abstract localCopy(key: string, signal?: AbortSignal): Promise<LocalCopy>;

  /** Removes the blob; no error when it is not there. */
  abstract delete(key: string): Promise<void>;

  /** Every blob whose key begins with `prefix`, in no order, without loading all keys at once. */
  abstract list(prefix: string): AsyncIterable<StoredBlob>;

  /**
   * Removes leftovers of unfinished writes: every one when `all`, which is right only while nobody
   * else uses the store, otherwise those untouched for a day. Returns how many.
   */
  abstract sweepStaging(all: boolean): Promise<number>;

  /** Free bytes for further recordings, or null when the store cannot say. */
  abstract freeBytes(): Promise<number | null>;

  /** Can the store be written to right now? @throws AppError when not */
  abstract check(): Promise<void>;
}
