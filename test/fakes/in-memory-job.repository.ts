import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/common/clock/clock';
import { AppError } from '../../src/common/errors/app-error';
import { ERRORS } from '../../src/common/errors/error-registry';
import { NoopError, type PollId } from '../../src/common/errors/noop';
import type {
  Claim,
  ClaimedJob,
  Job,
  JobError,
  NewJob,
} from '../../src/modules/pipeline/domain/job';
import {
  isTerminal,
  moved,
  TRANSITIONS,
  type JobState,
  type WorkingState,
} from '../../src/modules/pipeline/domain/job-state';
import { CONVERTED_SHARE } from '../../src/modules/pipeline/domain/progress';
import type { Transcript } from '../../src/modules/pipeline/domain/transcript';
import {
  INTERRUPTED,
  JobRepository,
  type JobFilter,
  type PollAnswer,
  type QueueDepth,
  type StepResult,
} from '../../src/modules/pipeline/persistence/job.repository.port';

interface Entry {
  job: Job;
  idempotencyKey: string | null;
  claim: { readonly token: string; readonly expiresAt: number } | null;
}

type Change = Partial<Job>;

const FRESH_START: Change = {
  state: 'created',
  attempts: 0,
  speechKey: null,
  durationSeconds: null,
  warnings: [],
  engine: null,
  model: null,
  engineReference: null,
  language: null,
  progress: 0,
  error: null,
  finishedAt: null,
};

/** The queue without a database, for unit tests; passes the contract suite like the real one. */
export class InMemoryJobRepository extends JobRepository {
  readonly entries = new Map<string, Entry>();
  readonly transcripts = new Map<string, Transcript>();
  /** What was asked for, by method, in order. */
  readonly calls: string[] = [];
  private readonly faults: { readonly method: string; readonly error: unknown; left: number }[] =
    [];

  constructor(private readonly clock: Clock) {
    super();
  }

  /** Lets the next `times` calls of `method` fail without having changed anything. */
  failNext(method: keyof JobRepository, error: unknown, times = 1): void {
    this.faults.push({ method, error, left: times });
  }

  /** Lets the next call of `method` be carried out, and its answer be lost on the way. */
  loseAnswer(method: 'advance' | 'retryLater' | 'end' | 'release', error: unknown): void {
    const original = this[method].bind(this) as (...values: unknown[]) => Promise<Job | null>;
    const once = async (...values: unknown[]): Promise<never> => {
      this[method] = original;
      await original(...values);
      throw error;
    };
    this[method] = once;
  }

  healed(method: keyof JobRepository): void {
    for (const fault of this.faults.filter((each) => each.method === method)) {
      fault.left = 0;
    }
  }

  async create(job: NewJob): Promise<{ job: Job; created: boolean }> {
    this.called('create');
    const { idempotencyKey, ...given } = job;
    const known = [...this.entries.values()].find(
      (entry) =>
        idempotencyKey !== null &&
        entry.idempotencyKey === idempotencyKey &&
        entry.job.sender === job.sender,
    );
    if (known !== undefined) {
      return { job: known.job, created: false };
    }
    if (this.entries.has(job.id)) {
      throw new AppError('storage_unavailable');
    }
    const now = this.clock.now();
    const entry: Entry = {
      idempotencyKey,
      claim: null,
      job: {
        ...given,
        state: 'created',
        attempts: 0,
        nextAttemptAt: now,
        speechKey: null,
        durationSeconds: null,
        warnings: [],
        engine: null,
        model: null,
        engineReference: null,
        language: null,
        progress: 0,
        error: null,
        reply: 'none',
        createdAt: now,
        updatedAt: now,
        finishedAt: null,
      },
    };
    this.entries.set(job.id, entry);
    return { job: entry.job, created: true };
  }

  async find(id: string): Promise<Job | null> {
    this.called('find');
    return this.entries.get(id)?.job ?? null;
  }

  async list(filter: JobFilter, limit: number, before: string | null): Promise<readonly Job[]> {
    this.called('list');
    return [...this.entries.values()]
      .map(({ job }) => job)
      .filter(
        (job) =>
          (filter.state === undefined || job.state === filter.state) &&
          (filter.source === undefined || job.source === filter.source) &&
          (before === null || job.id < before),
      )
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  }

  async transcript(id: string): Promise<Transcript | null> {
    this.called('transcript');
    return this.entries.get(id)?.job.state === 'done' ? (this.transcripts.get(id) ?? null) : null;
  }

  async existing(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    this.called('existing');
    const found = new Map<string, string | null>();
    for (const id of ids) {
      const job = this.entries.get(id)?.job;
      if (job !== undefined) {
        found.set(id, isTerminal(job.state) ? null : job.speechKey);
      }
    }
    return found;
  }

  async poll(
    state: WorkingState,
    poll: PollId,
    claimTtlMs: number,
    maxAttempts: number,
  ): Promise<PollAnswer> {
    this.called('poll');
    const now = this.clock.now();
    const due = [...this.entries.values()]
      .filter(
        ({ job, claim }) =>
          job.state === state &&
          job.nextAttemptAt <= now &&
          (claim === null || claim.expiresAt <= now),
      )
      .sort((a, b) => a.job.nextAttemptAt - b.job.nextAttemptAt || (a.job.id < b.job.id ? -1 : 1));
    const next = due.find(({ job }) => job.attempts < maxAttempts);
    if (next !== undefined) {
      const token = randomUUID();
      next.claim = { token, expiresAt: now + claimTtlMs };
      const job = this.change(next, { attempts: next.job.attempts + 1 });
      const claimed: ClaimedJob = { ...job, state, claim: { jobId: job.id, state, token } };
      return { kind: 'claimed', job: claimed };
    }
    const spent = due[0];
    if (spent !== undefined) {
      const error =
        spent.claim === null && spent.job.error !== null
          ? spent.job.error
          : { code: INTERRUPTED, detail: ERRORS[INTERRUPTED].title };
      spent.claim = null;
      const job = this.change(spent, { state: moved(state, 'bury'), error, finishedAt: now });
      return { kind: 'buried', job };
    }
    throw new NoopError(poll);
  }

  async renew(claim: Claim, claimTtlMs: number, progress: number | null): Promise<boolean> {
    this.called('renew');
    const entry = this.held(claim);
    if (entry === null) {
      return false;
    }
    entry.claim = { token: claim.token, expiresAt: this.clock.now() + claimTtlMs };
    this.change(entry, progress === null ? {} : { progress });
    return true;
  }

  async holds(claim: Claim): Promise<boolean> {
    this.called('holds');
    return this.held(claim) !== null;
  }

  async advance(claim: Claim, result: StepResult): Promise<Job | null> {
    this.called('advance');
    const now = this.clock.now();
    const onward = { attempts: 0, nextAttemptAt: now, error: null };
    switch (result.to) {
      case 'converted':
      case 'transcribe': {
        const { to, ...kept } = result;
        const progress = to === 'converted' ? { progress: CONVERTED_SHARE } : {};
        return this.leave(claim, { ...onward, ...kept, ...progress, state: to });
      }
      case 'done': {
        const { language } = result.transcript;
        const done: Change = { state: 'done', error: null, language, progress: 1, finishedAt: now };
        const job = this.leave(claim, done);
        if (job !== null) {
          this.transcripts.set(job.id, result.transcript);
        }
        return job;
      }
    }
  }

  async retryLater(claim: Claim, delayMs: number, error: JobError): Promise<Job | null> {
    this.called('retryLater');
    return this.leave(claim, { nextAttemptAt: this.clock.now() + delayMs, error });
  }

  async release(claim: Claim, delayMs: number): Promise<Job | null> {
    this.called('release');
    const attempts = (this.entries.get(claim.jobId)?.job.attempts ?? 1) - 1;
    return this.leave(claim, { attempts, nextAttemptAt: this.clock.now() + delayMs });
  }

  async end(claim: Claim, state: 'failed' | 'dead', error: JobError): Promise<Job | null> {
    this.called('end');
    return this.leave(claim, { state, error, finishedAt: this.clock.now() });
  }

  async cancel(id: string): Promise<Job | null> {
    this.called('cancel');
    return this.move(id, 'cancel', { state: 'cancelled', finishedAt: this.clock.now() });
  }

  async retry(id: string): Promise<Job | null> {
    this.called('retry');
    return this.move(id, 'retry', { ...FRESH_START, nextAttemptAt: this.clock.now() });
  }

  async delete(id: string): Promise<Job | null> {
    this.called('delete');
    const job = this.entries.get(id)?.job ?? null;
    this.entries.delete(id);
    this.transcripts.delete(id);
    return job;
  }

  async check(): Promise<void> {
    // Memory can always be written.
  }

  async depths(): Promise<readonly QueueDepth[]> {
    this.called('depths');
    const depths = new Map<JobState, QueueDepth>();
    for (const { job } of this.entries.values()) {
      const { count, oldestCreatedAt } = depths.get(job.state) ?? {
        count: 0,
        oldestCreatedAt: job.createdAt,
      };
      depths.set(job.state, {
        state: job.state,
        count: count + 1,
        oldestCreatedAt: Math.min(oldestCreatedAt, job.createdAt),
      });
    }
    return [...depths.values()];
  }

  private called(method: string): void {
    this.calls.push(method);
    const fault = this.faults.find((each) => each.method === method && each.left > 0);
    if (fault !== undefined) {
      fault.left -= 1;
      throw fault.error;
    }
  }

  private held(claim: Claim): Entry | null {
    const entry = this.entries.get(claim.jobId);
    return entry?.job.state === claim.state && entry.claim?.token === claim.token ? entry : null;
  }

  /** A holder's last word: the claim is free afterwards. */
  private leave(claim: Claim, change: Change): Job | null {
    const entry = this.held(claim);
    if (entry === null) {
      return null;
    }
    entry.claim = null;
    return this.change(entry, change);
  }

  private move(id: string, by: 'cancel' | 'retry', change: Change): Job | null {
    const entry = this.entries.get(id);
    if (entry === undefined || TRANSITIONS[entry.job.state][by] === undefined) {
      return null;
    }
    entry.claim = null;
    return this.change(entry, change);
  }

  private change(entry: Entry, change: Change): Job {
    entry.job = { ...entry.job, ...change, updatedAt: this.clock.now() };
    return entry.job;
  }
}
