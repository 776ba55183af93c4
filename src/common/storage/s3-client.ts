import { S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from './s3-location';

/** Milliseconds, except `attempts`. */
export interface S3Limits {
  /** Until a connection stands. */
  readonly connectMs: number;
  /** Until the answer to one attempt begins, the sending of one part included. */
  readonly answerMs: number;
  /** Without a byte in either direction. A reader who pauses longer has to open the blob again. */
  readonly idleMs: number;
  /** One call that moves no recording, all attempts together. */
  readonly callMs: number;
  /** One whole recording up or down. */
  readonly transferMs: number;
  /** How often one call is tried, in all. */
  readonly attempts: number;
}

export const S3_LIMITS: S3Limits = {
  connectMs: 5_000,
  answerMs: 120_000,
  idleMs: 60_000,
  callMs: 60_000,
  transferMs: 3_600_000,
  attempts: 3,
};

/** A client on which no call waits without end. */
export function createS3Client(location: S3Location, limits: S3Limits): S3Client {
  const { endpoint } = location;
  const region = location.region ?? (endpoint === undefined ? undefined : 'us-east-1');
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(region === undefined ? {} : { region }),
    maxAttempts: limits.attempts,
    // Servers other than Amazon's often refuse the newer checksums. What goes up is covered by the
    // hash in the request's signature, what comes down by its length.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: limits.connectMs,
      requestTimeout: limits.answerMs,
      throwOnRequestTimeout: true,
      socketTimeout: limits.idleMs,
    },
  });
}
