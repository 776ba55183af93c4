import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../common/clock/clock';
import type { Database, WriteResult } from '../../../common/database/database';
import type { SqlParameters } from '../../../common/database/named-parameters';
import { AppError } from '../../../common/errors/app-error';
import { ERRORS } from '../../../common/errors/error-registry';
import { NoopError, type PollId } from '../../../common/errors/noop';
import type { Claim, Job, JobError, NewJob } from '../domain/job';
import type { JobState, WorkingState } from '../domain/job-state';
import { CONVERTED_SHARE } from '../domain/progress';
import type { Transcript } from '../domain/transcript';
import {
  INTERRUPTED,
  JobRepository,
  type JobFilter,
  type PollAnswer,
  type QueueDepth,
  type StepResult,
} from './job.repository.port';
import { claimedFromRow, jobFromRow } from './job.row';
import {
  existingStatement,
  jobStatements,
  listStatement,
  type JobStatements,
} from './job.statements';

/** The queue in SQL, on SQLite and PostgreSQL alike. */
export class SqlJobRepository extends JobRepository {
  private readonly sql: JobStatements;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    super();
    this.sql = jobStatements(database.dialect);
  }

  async create(job: NewJob): Promise<{ job: Job; created: boolean }> {
    const inserted = await this.write(this.sql.insert, { ...job });
    if (inserted !== null) {
      return { job: inserted, created: true };
    }
    const [row] = await this.database.read(this.sql.findByKey, {
      sender: job.sender,
      key: job.idempotencyKey,
    });
    if (row === undefined) {
      // The holder of the key was deleted between the two statements: a retry will succeed.
      throw new AppError('storage_unavailable');
    }
    return { job: jobFromRow(row), created: false };
  }

  async find(id: string): Promise<Job | null> {
    const [row] = await this.database.read(this.sql.find, { id });
    return row === undefined ? null : jobFromRow(row);
  }

  async list(filter: JobFilter, limit: number, before: string | null): Promise<readonly Job[]> {
    const rows = await this.database.read(
      listStatement({
        state: filter.state !== undefined,
        source: filter.source !== undefined,
        before: before !== null,
      }),
      { state: filter.state ?? null, source: filter.source ?? null, before, limit },
    );
    return rows.map(jobFromRow);
  }

  async transcript(id: string): Promise<Transcript | null> {
    const [row] = await this.database.read(this.sql.transcript, { id });
    return row === undefined ? null : (JSON.parse(row['body'] as string) as Transcript);
  }

  async existing(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    if (ids.length === 0) {
      return new Map();
    }
    const parameters = Object.fromEntries(ids.map((id, position) => [`id${position}`, id]));
    const rows = await this.database.read(existingStatement(ids.length), parameters);
    return new Map(rows.map((row) => [row['id'] as string, row['speech_key'] as string | null]));
  }

  async poll(
    state: WorkingState,
    poll: PollId,
    claimTtlMs: number,
    maxAttempts: number,
  ): Promise<PollAnswer> {
    const due = await this.database.read(this.sql.isAnyDue, { state, now: this.clock.now() });
    if (due.length > 0) {
      const claimed = await this.rawWrite(this.sql.claim, {
        state,
        token: randomUUID(),
        ttl: claimTtlMs,
        maxAttempts,
      });
      if (claimed.rows[0] !== undefined) {
        return { kind: 'claimed', job: claimedFromRow(claimed.rows[0]) };
      }
      const job = await this.write(this.sql.buryExhausted, {
        state,
        maxAttempts,
        code: INTERRUPTED,
        detail: ERRORS[INTERRUPTED].title,
      });
      if (job !== null) {
        return { kind: 'buried', job };
      }
    }
    throw new NoopError(poll);
  }

  async renew(claim: Claim, claimTtlMs: number, progress: number | null): Promise<boolean> {
    const result = await this.rawWrite(this.sql.renew, {
      ...holder(claim),
      ttl: claimTtlMs,
      progress,
    });
    return result.affected === 1;
  }

  async holds(claim: Claim): Promise<boolean> {
    return (await this.database.read(this.sql.holds, holder(claim))).length === 1;
  }

  async advance(claim: Claim, result: StepResult): Promise<Job | null> {
    switch (result.to) {
      case 'converted':
        return this.write(this.sql.toConverted, {
          ...holder(claim),
          speechKey: result.speechKey,
          durationSeconds: result.durationSeconds,
          warnings: JSON.stringify(result.warnings),
          progress: CONVERTED_SHARE,
        });
      case 'transcribe':
        return this.write(this.sql.toTranscribe, {
          ...holder(claim),
          engine: result.engine,
          model: result.model,
          engineReference: result.engineReference,
        });
      case 'done':
        return this.finish(claim, result.transcript);
    }
  }

  async retryLater(claim: Claim, delayMs: number, error: JobError): Promise<Job | null> {
    return this.write(this.sql.retryLater, {
      ...holder(claim),
      delay: Math.round(delayMs),
      code: error.code,
      detail: error.detail,
    });
  }

  async release(claim: Claim, delayMs: number): Promise<Job | null> {
    return this.write(this.sql.release, { ...holder(claim), delay: Math.round(delayMs) });
  }

  async end(claim: Claim, state: 'failed' | 'dead', error: JobError): Promise<Job | null> {
    return this.write(this.sql.end, {
      ...holder(claim),
      ended: state,
      code: error.code,
      detail: error.detail,
    });
  }

  async cancel(id: string): Promise<Job | null> {
    return this.write(this.sql.cancel, { id });
  }

  async retry(id: string): Promise<Job | null> {
    return this.write(this.sql.retry, { id });
  }

  async delete(id: string): Promise<Job | null> {
    return this.write(this.sql.delete, { id });
  }

  async depths(): Promise<readonly QueueDepth[]> {
    const rows = await this.database.read(this.sql.depths);
    return rows.map((row) => ({
      state: row['state'] as JobState,
      count: Number(row['count']),
      oldestCreatedAt: Number(row['oldest']),
    }));
  }

  async check(): Promise<void> {
    await this.database.write(this.sql.check);
  }

  /** Text and state in one transaction: a `done` without its transcript cannot exist. */
  private async finish(claim: Claim, transcript: Transcript): Promise<Job | null> {
    const now = this.clock.now();
    return this.database.transaction(async (transaction) => {
      const { rows } = await transaction.write(this.sql.toDone, {
        ...holder(claim),
        language: transcript.language,
        now,
      });
      if (rows[0] === undefined) {
        return null;
      }
      await transaction.write(this.sql.saveTranscript, {
        id: claim.jobId,
        body: JSON.stringify(transcript),
        now,
      });
      return jobFromRow(rows[0]);
    });
  }

  private async write(sql: string, parameters: SqlParameters): Promise<Job | null> {
    const { rows } = await this.rawWrite(sql, parameters);
    return rows[0] === undefined ? null : jobFromRow(rows[0]);
  }

  private rawWrite(sql: string, parameters: SqlParameters): Promise<WriteResult> {
    return this.database.write(sql, { ...parameters, now: this.clock.now() });
  }
}

const holder = (claim: Claim): SqlParameters => ({
  id: claim.jobId,
  state: claim.state,
  token: claim.token,
});
