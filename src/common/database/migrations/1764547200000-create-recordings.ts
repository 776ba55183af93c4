import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Times are milliseconds since the Unix epoch; `claim_*`, `attempts`, `next_attempt_at` and `state` are the queue columns. */
export class CreateRecordings1764547200000 implements MigrationInterface {
  readonly name = 'CreateRecordings1764547200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE recordings (
        id text PRIMARY KEY,
        state text NOT NULL CHECK (state IN
          ('created', 'converted', 'transcribe', 'done', 'failed', 'dead', 'cancelled')),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        next_attempt_at bigint NOT NULL,
        claim_token text,
        claim_expires_at bigint,
        source text NOT NULL CHECK (source IN ('http', 'telegram')),
        sender text NOT NULL,
        idempotency_key text,
        filename text NOT NULL,
        media_type text NOT NULL,
        size_bytes bigint NOT NULL,
        sha256 text NOT NULL,
        requested_language text,
        prompt text,
        speech_key text,
        duration_s double precision,
        warnings text NOT NULL DEFAULT '[]',
        engine text,
        model text,
        engine_reference text,
        language text,
        progress double precision NOT NULL DEFAULT 0,
        error_code text,
        error_detail text,
        reply text NOT NULL DEFAULT 'none'
          CHECK (reply IN ('none', 'pending', 'sent', 'undelivered')),
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        finished_at bigint,
        CHECK ((claim_token IS NULL) = (claim_expires_at IS NULL))
      )`);
    await runner.query(`
      CREATE INDEX recordings_waiting ON recordings (state, next_attempt_at, id)
        WHERE state IN ('created', 'converted', 'transcribe')`);
    await runner.query(`CREATE INDEX recordings_by_state ON recordings (state, id)`);
    await runner.query(`
      CREATE UNIQUE INDEX recordings_idempotency ON recordings (sender, idempotency_key)
        WHERE idempotency_key IS NOT NULL`);
    await runner.query(`
      CREATE TABLE transcripts (
        recording_id text PRIMARY KEY REFERENCES recordings (id) ON DELETE CASCADE,
        body text NOT NULL,
        created_at bigint NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE transcripts`);
    await runner.query(`DROP TABLE recordings`);
  }
}
