import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
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
import { assertByteRange } from './byte-range';
import { checkedRead } from './checked-read';
import { createS3Client, S3_LIMITS, type S3Limits } from './s3-client';
import { s3Failure, s3StatusOf } from './s3-failure';
import type { S3Location } from './s3-location';
import { sweepUnfinishedUploads } from './s3-unfinished-uploads';
import { StagingArea, type StagedFile } from './staging-area';

/** Larger files go up in parts of this size; two parts are in memory at a time. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_IN_FLIGHT = 2;
const MOST_PARTS = 10_000;
/** Not a blob key, so `list` never shows it. */
const PROBE_NAME = '.probe';

/**
 * Blobs as objects `<prefix><key>` of a bucket. Bytes are staged on the local disk, so that size and
 * hash are known before the upload and a part can be sent again. Credentials come from where the
 * AWS client looks for them by itself (AWS_ACCESS_KEY_ID, profile, role).
 */
export class S3BlobStore extends BlobStore {
  private readonly client: S3Client;
  private readonly staging: StagingArea;

  constructor(
    private readonly location: S3Location,
    stagingFolder: string,
    private readonly clock: Clock,
    private readonly limits: S3Limits = S3_LIMITS,
  ) {
    super();
    this.staging = new StagingArea(stagingFolder, clock);
    this.client = createS3Client(location, limits);
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
    const object = this.objectOf(key);
    return this.within(this.limits.callMs, async (abortSignal) => {
      try {
        const head = await this.client.send(new HeadObjectCommand(object), { abortSignal });
        return lengthOf(head.ContentLength);
      } catch (error) {
        await this.assertNotFound(error, abortSignal);
        return null;
      }
    });
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    assertByteRange(range);
    return this.within(this.limits.callMs, (signal) => this.open(key, range, signal));
  }

  async localCopy(key: string, signal?: AbortSignal): Promise<LocalCopy> {
    const copy = async (bounded: AbortSignal): Promise<LocalCopy> => {
      const body = await this.open(key, undefined, bounded);
      const { path } = await this.staging.receive(body, bounded);
      return { path, release: () => this.staging.remove(path) };
    };
    return this.within(this.limits.transferMs, copy, signal);
  }

  async delete(key: string): Promise<void> {
    const object = this.objectOf(key);
    await this.within(this.limits.callMs, async (abortSignal) => {
      try {
        await this.client.send(new DeleteObjectCommand(object), { abortSignal });
      } catch (error) {
        // Amazon answers 204 for what is not there, some other servers 404.
        await this.assertNotFound(error, abortSignal);
      }
    });
  }

  async *list(prefix: string): AsyncGenerator<StoredBlob> {
    assertBlobKeyPrefix(prefix);
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: this.location.bucket,
        Prefix: this.location.prefix + prefix,
        ContinuationToken: token,
      });
      const page = await this.within(this.limits.callMs, (abortSignal) =>
        this.client.send(command, { abortSignal }),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        const key = Key?.slice(this.location.prefix.length) ?? '';
        if (isBlobKey(key) && Size !== undefined && LastModified !== undefined) {
          yield { key, sizeBytes: Size, changedAt: LastModified.getTime() };
        }
      }
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  async sweepStaging(all: boolean): Promise<number> {
    const files = await this.staging.sweep(all);
    const uploads = await this.within(this.limits.callMs, (signal) =>
      sweepUnfinishedUploads(
        this.client,
        this.location,
        all ? undefined : this.clock.now(),
        signal,
      ),
    );
    return files + uploads;
  }

  /** Of the local disk: a recording has to fit there on its way, and S3 tells no limit. */
  freeBytes(): Promise<number> {
    return this.staging.freeBytes();
  }

  async check(): Promise<void> {
    await this.staging.probe();
    const probe = { Bucket: this.location.bucket, Key: this.location.prefix + PROBE_NAME };
    await this.within(this.limits.callMs, async (abortSignal) => {
      await this.client.send(new PutObjectCommand({ ...probe, Body: 'probe' }), { abortSignal });
      await this.client.send(new DeleteObjectCommand(probe), { abortSignal });
    });
  }

  private objectOf(key: string): { Bucket: string; Key: string } {
    assertBlobKey(key);
    return { Bucket: this.location.bucket, Key: this.location.prefix + key };
  }

  private staged(file: StagedFile): StagedBlob {
    return {
      sizeBytes: file.sizeBytes,
      sha256: file.sha256,
      commit: async (key) => {
        const object = this.objectOf(key);
        await this.within(this.limits.transferMs, (signal) => this.upload(file, object, signal));
        await this.staging.removeQuietly(file.path);
      },
      discard: () => this.staging.remove(file.path),
    };
  }

  private async upload(
    file: StagedFile,
    object: { Bucket: string; Key: string },
    signal: AbortSignal,
  ): Promise<void> {
    const body = createReadStream(file.path);
    const upload = new Upload({
      client: this.client,
      params: { ...object, Body: body },
      partSize: Math.max(PART_BYTES, Math.ceil(file.sizeBytes / MOST_PARTS)),
      queueSize: PARTS_IN_FLIGHT,
    });
    signal.addEventListener('abort', () => void upload.abort(), { once: true });
    try {
      await upload.done();
    } finally {
      body.destroy();
    }
  }

  private async open(
    key: string,
    range: ByteRange | undefined,
    abortSignal: AbortSignal,
  ): Promise<Readable> {
    const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end}`;
    const command = new GetObjectCommand({ ...this.objectOf(key), Range });
    try {
      const { Body, ContentLength } = await this.client.send(command, { abortSignal });
      if (!(Body instanceof Readable)) {
        throw new Error('an S3 answer has no body');
      }
      return checkedRead(Body, lengthOf(ContentLength));
    } catch (error) {
      if (s3StatusOf(error) === 416) {
        return Readable.from([]);
      }
      await this.assertNotFound(error, abortSignal);
      throw new AppError('audio_missing', { cause: error });
    }
  }

  /**
   * Passes when `error` means that the object is not there; else throws it. A bucket that is gone
   * answers the same 404, and must not make every recording look lost for good.
   */
  private async assertNotFound(error: unknown, abortSignal: AbortSignal): Promise<void> {
    if (s3StatusOf(error) !== 404) {
      throw error;
    }
    const bucket = new HeadBucketCommand({ Bucket: this.location.bucket });
    await this.client.send(bucket, { abortSignal });
  }

  /** Runs `work` with an end in time; a failure gets its meaning, an abort by `outer` its reason. */
  private async within<T>(
    limitMs: number,
    work: (signal: AbortSignal) => Promise<T>,
    outer?: AbortSignal,
  ): Promise<T> {
    outer?.throwIfAborted();
    const limit = new AbortController();
    const cancel = this.clock.after(limitMs, () =>
      limit.abort(new Error(`the storage was given ${limitMs} ms`)),
    );
    try {
      return await work(
        outer === undefined ? limit.signal : AbortSignal.any([limit.signal, outer]),
      );
    } catch (error) {
      outer?.throwIfAborted();
      throw s3Failure(error);
    } finally {
      cancel();
    }
  }
}

function lengthOf(contentLength: number | undefined): number {
  if (contentLength === undefined) {
    throw new Error('an S3 answer does not say its length');
  }
  return contentLength;
}
