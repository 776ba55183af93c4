import type { Dialect } from '../../../common/database/named-parameters';
import { statesThatAllow, WORKING_STATES, type JobState } from '../domain/job-state';

const quoted = (states: readonly JobState[]): string =>
  states.map((state) => `'${state}'`).join(', ');

const FREE_CLAIM = 'claim_token = NULL, claim_expires_at = NULL';
const HOLDER = 'id = :id AND state = :state AND claim_token = :token';

/** Everything a retry or a deletion of the text makes the pipeline forget about the last run. */
const FRESH_START = `speech_key = NULL, duration_s = NULL, warnings = '[]', engine = NULL, model = NULL,
  engine_reference = NULL, language = NULL, progress = 0, error_code = NULL, error_detail = NULL,
  finished_at = NULL`;

/**
 * The statements of the queue, where all of its safety lies. On SQLite the time is the process's own
 * (`:now`: one machine, one clock); on PostgreSQL it is the database's, so that a machine whose clock
 * is fast cannot take another's claim. `now()` would stand still within a transaction.
 */
export function jobStatements(dialect: Dialect) {
  const now =
    dialect === 'sqlite' ? ':now' : '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
  const skipLocked = dialect === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED';
  const due = `state = :state AND next_attempt_at <= ${now}
    AND (claim_token IS NULL OR claim_expires_at <= ${now})`;
  const firstDue = (attempts: string): string => `
    SELECT id FROM recordings WHERE ${due} AND ${attempts}
    ORDER BY next_attempt_at, id LIMIT 1 ${skipLocked}`;

  return {
    insert: `
      INSERT INTO recordings (id, state, next_attempt_at, source, sender, idempotency_key, filename,
        media_type, size_bytes, sha256, requested_language, prompt, created_at, updated_at)
      VALUES (:id, 'created', ${now}, :source, :sender, :idempotencyKey, :filename, :mediaType,
        :sizeBytes, :sha256, :requestedLanguage, :prompt, ${now}, ${now})
      ON CONFLICT (sender, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
      RETURNING *`,

    findByKey: 'SELECT * FROM recordings WHERE sender = :sender AND idempotency_key = :key',
    find: 'SELECT * FROM recordings WHERE id = :id',
    transcript: `
      SELECT t.body FROM transcripts t JOIN recordings r ON r.id = t.recording_id
      WHERE r.id = :id AND r.state = 'done'`,
    depths: `
      SELECT state, count(*) AS count, min(created_at) AS oldest FROM recordings GROUP BY state`,

    /** Taken before any claim: an UPDATE that matches nothing would still take SQLite's write lock. */
    isAnyDue: `SELECT 1 AS due FROM recordings WHERE ${due} LIMIT 1`,

    claim: `
      UPDATE recordings SET claim_token = :token, claim_expires_at = ${now} + :ttl,
        attempts = attempts + 1, updated_at = ${now}
      WHERE id = (${firstDue('attempts < :maxAttempts')}) AND ${due}
      RETURNING *`,

    buryExhausted: `
      UPDATE recordings SET state = 'dead', finished_at = ${now}, updated_at = ${now},
        error_detail = CASE WHEN claim_token IS NULL AND error_code IS NOT NULL THEN error_detail
          ELSE :detail END,
        error_code = CASE WHEN claim_token IS NULL AND error_code IS NOT NULL THEN error_code
          ELSE :code END,
        ${FREE_CLAIM}
      WHERE id = (${firstDue('attempts >= :maxAttempts')}) AND ${due}
      RETURNING *`,

    renew: `
      UPDATE recordings SET claim_expires_at = ${now} + :ttl,
        progress = COALESCE(:progress, progress), updated_at = ${now}
      WHERE ${HOLDER}`,

    holds: `SELECT 1 AS held FROM recordings WHERE ${HOLDER}`,

    toConverted: `
      UPDATE recordings SET state = 'converted', attempts = 0, next_attempt_at = ${now},
        ${FREE_CLAIM}, error_code = NULL, error_detail = NULL, speech_key = :speechKey,
        duration_s = :durationSeconds, warnings = :warnings, progress = :progress,
        updated_at = ${now}
      WHERE ${HOLDER} RETURNING *`,

    toTranscribe: `
      UPDATE recordings SET state = 'transcribe', attempts = 0, next_attempt_at = ${now},
        ${FREE_CLAIM}, error_code = NULL, error_detail = NULL, engine = :engine, model = :model,
        engine_reference = :engineReference, updated_at = ${now}
      WHERE ${HOLDER} RETURNING *`,

    toDone: `
      UPDATE recordings SET state = 'done', ${FREE_CLAIM}, error_code = NULL, error_detail = NULL,
        language = :language, progress = 1, finished_at = ${now},
        updated_at = ${now}
      WHERE ${HOLDER} RETURNING *`,

    saveTranscript: `
      INSERT INTO transcripts (recording_id, body, created_at) VALUES (:id, :body, ${now})
      ON CONFLICT (recording_id) DO UPDATE SET body = excluded.body,
        created_at = excluded.created_at`,

    retryLater: `
      UPDATE recordings SET next_attempt_at = ${now} + :delay, ${FREE_CLAIM}, error_code = :code,
        error_detail = :detail, updated_at = ${now}
      WHERE ${HOLDER} RETURNING *`,

    release: `
      UPDATE recordings SET next_attempt_at = ${now} + :delay, attempts = attempts - 1,
        ${FREE_CLAIM}, updated_at = ${now}
      WHERE ${HOLDER} RETURNING *`,

    end: `
      UPDATE recordings SET state = :ended, ${FREE_CLAIM}, error_code = :code,
        error_detail = :detail, finished_at = ${now}, updated_at = ${now}
      WHERE ${HOLDER} RETURNING *`,

    cancel: `
      UPDATE recordings SET state = 'cancelled', ${FREE_CLAIM}, finished_at = ${now},
        updated_at = ${now}
      WHERE id = :id AND state IN (${quoted(statesThatAllow('cancel'))}) RETURNING *`,

    retry: `
      UPDATE recordings SET state = 'created', attempts = 0, next_attempt_at = ${now},
        ${FREE_CLAIM}, ${FRESH_START}, updated_at = ${now}
      WHERE id = :id AND state IN (${quoted(statesThatAllow('retry'))}) RETURNING *`,

    delete: 'DELETE FROM recordings WHERE id = :id RETURNING *',

    /** Matches nothing, but needs all that a real write needs. */
    check: `UPDATE recordings SET updated_at = updated_at WHERE id = ''`,
  };
}

export type JobStatements = ReturnType<typeof jobStatements>;

/** Newest first; the id is a UUIDv7, so its order is the order of creation. */
export function listStatement(by: { state: boolean; source: boolean; before: boolean }): string {
  const where = [
    ...(by.state ? ['state = :state'] : []),
    ...(by.source ? ['source = :source'] : []),
    ...(by.before ? ['id < :before'] : []),
  ];
  const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  return `SELECT * FROM recordings ${condition} ORDER BY id DESC LIMIT :limit`;
}

/** Of the `count` ids bound as `:id0`, `:id1`, …: those that exist, with the converted audio they still need. */
export function existingStatement(count: number): string {
  const names = Array.from({ length: count }, (_, position) => `:id${position}`).join(', ');
  return `
    SELECT id, CASE WHEN state IN (${quoted(WORKING_STATES)}) THEN speech_key END AS speech_key
    FROM recordings WHERE id IN (${names})`;
}
