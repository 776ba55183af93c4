import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { s3StatusOf } from './s3-failure';
import type { S3Location } from './s3-location';

const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Gives up uploads in parts that nobody finished: their parts are kept, and paid for, until then.
 * With `now` only those begun a day before it or earlier. Returns how many.
 */
export async function sweepUnfinishedUploads(
  client: S3Client,
  location: S3Location,
  now: number | undefined,
  abortSignal: AbortSignal,
): Promise<number> {
  const { bucket: Bucket, prefix: Prefix } = location;
  const isAbandoned = (begun: Date | undefined): boolean =>
    now === undefined || (begun !== undefined && begun.getTime() < now - ABANDONED_AFTER_MS);
  let removed = 0;
  let page: ListMultipartUploadsCommandOutput | undefined;
  do {
    const command = new ListMultipartUploadsCommand({
      Bucket,
      Prefix,
      KeyMarker: page?.NextKeyMarker,
      UploadIdMarker: page?.NextUploadIdMarker,
    });
    page = await client.send(command, { abortSignal });
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (isAbandoned(Initiated)) {
        const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
        await client.send(abort, { abortSignal }).catch(ignoreAlreadyGone);
        removed += 1;
      }
    }
  } while (page.IsTruncated === true);
  return removed;
}

function ignoreAlreadyGone(error: unknown): void {
  if (s3StatusOf(error) !== 404) {
    throw error;
  }
}
