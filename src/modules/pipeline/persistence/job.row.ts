import type { Row } from '../../../common/database/database';
import { isErrorCode } from '../../../common/errors/error-registry';
import type { Claim, ClaimedJob, Job, JobError, ReplyState, Source } from '../domain/job';
import { isTerminal, type JobState, type WorkingState } from '../domain/job-state';
import type { TranscriptWarning } from '../domain/transcript';

/** A row of `recordings` as a job. PostgreSQL hands bigint out as text. */
export function jobFromRow(row: Row): Job {
  return {
    id: row['id'] as string,
    state: row['state'] as JobState,
    attempts: Number(row['attempts']),
    nextAttemptAt: Number(row['next_attempt_at']),
    source: row['source'] as Source,
    sender: row['sender'] as string,
    filename: row['filename'] as string,
    mediaType: row['media_type'] as string,
    sizeBytes: Number(row['size_bytes']),
    sha256: row['sha256'] as string,
    requestedLanguage: textOrNull(row['requested_language']),
    prompt: textOrNull(row['prompt']),
    speechKey: textOrNull(row['speech_key']),
    durationSeconds: numberOrNull(row['duration_s']),
    warnings: JSON.parse(row['warnings'] as string) as TranscriptWarning[],
    engine: textOrNull(row['engine']),
    model: textOrNull(row['model']),
    engineReference: textOrNull(row['engine_reference']),
    language: textOrNull(row['language']),
    progress: Number(row['progress']),
    error: errorFromRow(row),
    reply: row['reply'] as ReplyState,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    finishedAt: numberOrNull(row['finished_at']),
  };
}

/** @throws RangeError when the row is not claimed: a bug */
export function claimedFromRow(row: Row): ClaimedJob {
  const job = jobFromRow(row);
  const token = textOrNull(row['claim_token']);
  if (token === null || isTerminal(job.state)) {
    throw new RangeError('a claimed job has a token and a working state');
  }
  const state = job.state as WorkingState;
  const claim: Claim = { jobId: job.id, state, token };
  return { ...job, state, claim };
}

function errorFromRow(row: Row): JobError | null {
  const code = textOrNull(row['error_code']);
  return code === null
    ? null
    : {
        code: isErrorCode(code) ? code : 'internal', // written by a newer version
        detail: textOrNull(row['error_detail']) ?? '',
      };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const numberOrNull = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);
