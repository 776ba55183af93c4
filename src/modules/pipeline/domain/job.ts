import type { ErrorCode } from '../../../common/errors/error-registry';
import type { JobState, WorkingState } from './job-state';
import type { TranscriptWarning } from './transcript';

export const SOURCES = ['http', 'telegram'] as const;
export type Source = (typeof SOURCES)[number];

export type ReplyState = 'none' | 'pending' | 'sent' | 'undelivered';

export interface JobError {
  readonly code: ErrorCode;
  readonly detail: string;
}

/** A recording's durable row. Times are milliseconds since the epoch, durations seconds. */
export interface Job {
  /** UUIDv7: rises with the time of creation. */
  readonly id: string;
  readonly state: JobState;
  readonly attempts: number;
  readonly nextAttemptAt: number;
  readonly source: Source;
  /** Name of the API key, or empty when none is needed. */
  readonly sender: string;
  readonly filename: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly requestedLanguage: string | null;
  readonly prompt: string | null;
  /** Blob of the converted audio, from `converted` until the job ends. */
  readonly speechKey: string | null;
  readonly durationSeconds: number | null;
  /** Gathered on the way, to be shown on the transcript. */
  readonly warnings: readonly TranscriptWarning[];
  readonly engine: string | null;
  readonly model: string | null;
  readonly engineReference: string | null;
  readonly language: string | null;
  readonly progress: number;
  readonly error: JobError | null;
  readonly reply: ReplyState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly finishedAt: number | null;
}

/** The time-limited right to work on a job; only its holder may write the result. */
export interface Claim {
  readonly jobId: string;
  readonly state: WorkingState;
  readonly token: string;
}

export interface ClaimedJob extends Job {
  readonly state: WorkingState;
  readonly claim: Claim;
}

export interface NewJob {
  readonly id: string;
  readonly source: Source;
  readonly sender: string;
  readonly idempotencyKey: string | null;
  readonly filename: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly requestedLanguage: string | null;
  readonly prompt: string | null;
}

/** Where the bytes of a recording lie. A claim's converted audio has a name of its own, so that a late worker cannot touch another's. */
export const blobKeys = {
  /** Begins every key of a recording. */
  root: 'recordings/',
  original: (id: string): string => `${blobKeys.root}${id}/original`,
  speech: (claim: Claim): string => `${blobKeys.root}${claim.jobId}/speech-${claim.token}.wav`,
  /** The recording that a key belongs to. */
  owner: (key: string): string => key.slice(blobKeys.root.length).split('/')[0] ?? '',
};

/** When an id was made, milliseconds since the epoch: a UUIDv7 begins with it. */
export const bornAt = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);
