import { AppError } from '../../src/common/errors/app-error';
import { NoopError, PollId } from '../../src/common/errors/noop';
import type { ClaimedJob, Job, NewJob } from '../../src/modules/pipeline/domain/job';
import {
  isTerminal,
  JOB_STATES,
  TRANSITIONS,
  WORKING_STATES,
  type JobState,
  type WorkingState,
} from '../../src/modules/pipeline/domain/job-state';
import type { Transcript } from '../../src/modules/pipeline/domain/transcript';
import type {
  JobRepository,
  PollAnswer,
  StepResult,
} from '../../src/modules/pipeline/persistence/job.repository.port';
import { newJob, TestIds } from '../fakes/test-jobs';

export interface QueueColumns {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly token: string | null;
  readonly expiresAt: number | null;
}

export interface JobRepositoryHarness {
  readonly repository: JobRepository;
  /** The same queue as another process sees it. */
  readonly other: JobRepository;
  /** Lets the job be due since `at`, milliseconds since the epoch; by default since ever. */
  makeDue(id: string, at?: number): Promise<void>;
  /** Lets the job's claim have run out. */
  expireClaim(id: string): Promise<void>;
  rows(): Promise<readonly QueueColumns[]>;
  /** Ids of the recordings that have a stored text. */
  transcriptIds(): Promise<readonly string[]>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

const TTL = 60_000;
const HOUR = 3_600_000;
const MAX_ATTEMPTS = 3;
const ENGINE_DOWN = { code: 'engine_unavailable', detail: 'The engine is away' } as const;
const NOT_MEDIA = { code: 'not_media', detail: 'The file is a text' } as const;
const WARNING = { code: 'truncated_media', detail: 'cut', start_s: 3, end_s: 4 } as const;

const transcriptOf = (id: string): Transcript => ({
  recording_id: id,
  text: 'turn on the lights — включи свет',
  language: 'en',
  duration_s: 3.25,
  engine: 'pocketsphinx',
  model: 'en-us',
  segments: [{ index: 0, start_s: 0.5, end_s: 1.25, text: 'turn on the lights — включи свет' }],
  warnings: [WARNING],
});

const resultFrom = (state: WorkingState, claimed: ClaimedJob): StepResult => {
  switch (state) {
    case 'created':
      return {
        to: 'converted',
        speechKey: `recordings/${claimed.id}/speech-${claimed.claim.token}.wav`,
        durationSeconds: 3.25,
        warnings: [WARNING],
      };
    case 'converted':
      return {
        to: 'transcribe',
        engine: 'pocketsphinx',
        model: 'en-us',
        engineReference: 'ticket-7',
      };
    case 'transcribe':
      return { to: 'done', transcript: transcriptOf(claimed.id) };
  }
};

/** One suite that every adapter of JobRepository passes. `open` is called once. */
export function describeJobRepositoryContract(
  name: string,
  open: () => Promise<JobRepositoryHarness>,
): void {
  describe(`${name} as a JobRepository`, () => {
    describeQueue(open);
  });
}

function describeQueue(open: () => Promise<JobRepositoryHarness>): void {
  let harness: JobRepositoryHarness;
  let repository: JobRepository;
  const ids = new TestIds();

  beforeAll(async () => {
    harness = await open();
    repository = harness.repository;
  });

  afterEach(async () => {
    await expectInvariants();
    await harness.clear();
  });

  afterAll(() => harness.close());

  /** J4: a token stands with its expiry and in a working state alone; J5: no state off the list. */
  async function expectInvariants(): Promise<void> {
    for (const row of await harness.rows()) {
      expect(JOB_STATES).toContain(row.state);
      expect(row.attempts).toBeGreaterThanOrEqual(0);
      expect(row.token === null).toBe(row.expiresAt === null);
      if (isTerminal(row.state as JobState)) {
        expect(row.token).toBeNull();
      }
    }
  }

  async function rowOf(id: string): Promise<QueueColumns> {
    const row = (await harness.rows()).find((each) => each.id === id);
    if (row === undefined) {
      throw new Error('no such row');
    }
    return row;
  }

  async function add(change: Partial<NewJob> = {}): Promise<Job> {
    const { job, created } = await repository.create(newJob(ids.next(), change));
    expect(created).toBe(true);
    return job;
  }

  function poll(state: WorkingState, from = repository): Promise<PollAnswer> {
    return from.poll(state, new PollId('worker'), TTL, MAX_ATTEMPTS);
  }

  /** Polls once; fails the test when the answer is not a claim. */
  async function claim(state: WorkingState, from = repository): Promise<ClaimedJob> {
    const answer = await poll(state, from);
    if (answer.kind !== 'claimed') {
      throw new Error(`expected a claim, not ${answer.kind}`);
    }
    return answer.job;
  }

  async function expectNoWork(state: WorkingState): Promise<void> {
    await expect(poll(state)).rejects.toBeInstanceOf(NoopError);
  }

  async function found(id: string): Promise<Job> {
    const job = await repository.find(id);
    if (job === null) {
      throw new Error('no such job');
    }
    return job;
  }

  /** A job of its own that has reached `state` by the queue's own moves. */
  async function jobIn(state: JobState): Promise<Job> {
    const { id } = await add();
    const path: WorkingState[] =
      state === 'done'
        ? [...WORKING_STATES]
        : state === 'transcribe'
          ? ['created', 'converted']
          : state === 'converted' || isTerminal(state)
            ? ['created']
            : [];
    for (const step of path) {
      const claimed = await claim(step);
      expect(claimed.id).toBe(id);
      await repository.advance(claimed.claim, resultFrom(step, claimed));
    }
    if (state === 'cancelled') {
      await repository.cancel(id);
    } else if (state === 'failed' || state === 'dead') {
      await repository.end((await claim('converted')).claim, state, ENGINE_DOWN);
    }
    const job = await found(id);
    expect(job.state).toBe(state);
    return job;
  }

  /** A claimed job in a working state. */
  async function claimedIn(state: WorkingState): Promise<ClaimedJob> {
    const { id } = await jobIn(state);
    const claimed = await claim(state);
    expect(claimed.id).toBe(id);
    return claimed;
  }

  /** Everything a holder may ask for, each with the answer that says "it was refused". */
  const holderWrites = (held: ClaimedJob): [string, () => Promise<unknown>, null | false][] => [
    ['advance', () => repository.advance(held.claim, resultFrom(held.state, held)), null],
    ['retryLater', () => repository.retryLater(held.claim, HOUR, ENGINE_DOWN), null],
    ['release', () => repository.release(held.claim, 0), null],
    ['end failed', () => repository.end(held.claim, 'failed', NOT_MEDIA), null],
    ['end dead', () => repository.end(held.claim, 'dead', ENGINE_DOWN), null],
    ['renew', () => repository.renew(held.claim, TTL, 0.5), false],
    ['holds', () => repository.holds(held.claim), false],
  ];

  async function expectRefused(held: ClaimedJob): Promise<void> {
    for (const [name, write, refusal] of holderWrites(held)) {
      expect([name, await write()]).toEqual([name, refusal]);
    }
  }

  describe('create and find', () => {
    it('keeps everything that was handed in', async () => {
      const wanted = newJob(ids.next(), {
        source: 'telegram',
        sender: 'alice',
        idempotencyKey: 'key-1',
        filename: "Тест 'one'; -- \u{1f399}.mp3",
        mediaType: 'audio/mpeg',
        sizeBytes: 5_000_000_000,
        requestedLanguage: 'ru',
        prompt: 'Иванов',
      });
      const { job, created } = await repository.create(wanted);
      expect(created).toBe(true);
      const { idempotencyKey, ...kept } = wanted;
      expect(idempotencyKey).toBe('key-1');
      expect(job).toEqual({
        ...kept,
        state: 'created',
        attempts: 0,
        nextAttemptAt: expect.any(Number),
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
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
        finishedAt: null,
      });
      expect(await repository.find(job.id)).toEqual(job);
      expect(await harness.other.find(job.id)).toEqual(job);
    });

    it('finds nothing under an id that does not exist', async () => {
      expect(await repository.find(ids.next())).toBeNull();
    });

    it('answers the first job for the same key of the same sender', async () => {
      const first = await add({ sender: 'alice', idempotencyKey: 'k' });
      const again = await repository.create(
        newJob(ids.next(), { sender: 'alice', idempotencyKey: 'k' }),
      );
      expect(again).toEqual({ job: first, created: false });
      expect(await harness.rows()).toHaveLength(1);
    });

    it('keeps the keys of senders apart, and jobs without a key', async () => {
      await add({ sender: 'alice', idempotencyKey: 'k' });
      await add({ sender: 'bob', idempotencyKey: 'k' });
      await add({ sender: 'alice' });
      await add({ sender: 'alice' });
      expect(await harness.rows()).toHaveLength(4);
    });

    it('makes one job of twenty racing creates with one key', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, position) =>
          (position % 2 === 0 ? repository : harness.other).create(
            newJob(ids.next(), { sender: 'alice', idempotencyKey: 'race' }),
          ),
        ),
      );
      expect(answers.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(answers.map(({ job }) => job.id)).size).toBe(1);
      expect(await harness.rows()).toHaveLength(1);
    });

    it('lets a key be used again after its job was deleted', async () => {
      const first = await add({ idempotencyKey: 'k' });
      await repository.delete(first.id);
      expect((await add({ idempotencyKey: 'k' })).id).not.toBe(first.id);
    });
  });

  describe('poll', () => {
    it('claims a job: token, expiry and one attempt', async () => {
      const { id, nextAttemptAt } = await add();
      const claimed = await claim('created');
      expect(claimed).toMatchObject({ id, state: 'created', attempts: 1, error: null });
      expect(claimed.claim).toEqual({ jobId: id, state: 'created', token: expect.any(String) });
      const row = await rowOf(id);
      expect(row).toMatchObject({ attempts: 1, token: claimed.claim.token });
      expect(row.expiresAt).toBeGreaterThanOrEqual(nextAttemptAt + TTL);
      expect(await repository.holds(claimed.claim)).toBe(true);
    });

    it('throws a noop with the very poll inside when nothing waits, is due or is free', async () => {
      const mine = new PollId('convert');
      const noopOf = async (): Promise<unknown> =>
        repository.poll('created', mine, TTL, MAX_ATTEMPTS).catch((error: unknown) => error);
      const onNothing = await noopOf();
      expect(onNothing).toBeInstanceOf(NoopError);
      expect((onNothing as NoopError).poll).toBe(mine);

      await add();
      const { claim: held } = await claim('created');
      expect(((await noopOf()) as NoopError).poll).toBe(mine);

      await repository.retryLater(held, HOUR, ENGINE_DOWN);
      expect(((await noopOf()) as NoopError).poll).toBe(mine);
    });

    it('takes jobs of the asked state alone', async () => {
      await jobIn('converted');
      await expectNoWork('created');
      await expectNoWork('transcribe');
      expect((await claim('converted')).state).toBe('converted');
    });

    it('never takes a job that has ended', async () => {
      for (const state of JOB_STATES.filter(isTerminal)) {
        await jobIn(state);
      }
      for (const state of WORKING_STATES) {
        await expectNoWork(state);
      }
    });

    it('takes the job that is due longest, and of equals the older', async () => {
      const jobs = [await add(), await add(), await add(), await add()];
      const due = [3000, 1000, 2000, 1000];
      for (const [position, job] of jobs.entries()) {
        await harness.makeDue(job.id, due[position]);
      }
      const order = [1, 3, 2, 0].map((position) => jobs[position]?.id);
      for (const id of order) {
        expect((await claim('created')).id).toBe(id);
      }
    });

    it('Scenario: each job goes to one poll of twenty, also between processes', async () => {
      for (let count = 0; count < 20; count += 1) {
        await add();
      }
      const claimed = await Promise.all(
        Array.from({ length: 20 }, (_, position) =>
          claim('created', position % 2 === 0 ? repository : harness.other),
        ),
      );
      expect(new Set(claimed.map(({ id }) => id)).size).toBe(20);
      expect(new Set(claimed.map(({ claim: { token } }) => token)).size).toBe(20);
      for (const row of await harness.rows()) {
        expect(row.attempts).toBe(1);
        expect(claimed.find(({ id }) => id === row.id)?.claim.token).toBe(row.token);
      }
    });

    it('answers a noop to the rest when there are fewer jobs than polls', async () => {
      for (let count = 0; count < 3; count += 1) {
        await add();
      }
      const settled = await Promise.allSettled(
        Array.from({ length: 20 }, (_, position) =>
          claim('created', position % 2 === 0 ? repository : harness.other),
        ),
      );
      const refusals = settled.filter((each) => each.status === 'rejected');
      expect(refusals).toHaveLength(17);
      for (const { reason } of refusals) {
        expect(reason).toBeInstanceOf(NoopError);
      }
      expect((await harness.rows()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    });

    it('Scenario: a claim that has run out is taken over, and that attempt counts too', async () => {
      const first = await claimedIn('created');
      await expectNoWork('created');
      await harness.expireClaim(first.id);
      const second = await claim('created', harness.other);
      expect(second).toMatchObject({ id: first.id, attempts: 2 });
      expect(second.claim.token).not.toBe(first.claim.token);
    });

    it('buries a job whose last claim ran out without a word', async () => {
      const { id } = await add();
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        expect((await claim('created')).attempts).toBe(attempt);
        await harness.expireClaim(id);
      }
      const answer = await poll('created');
      expect(answer).toMatchObject({
        kind: 'buried',
        job: { id, state: 'dead', attempts: MAX_ATTEMPTS, error: { code: 'interrupted' } },
      });
      expect((await found(id)).finishedAt).not.toBeNull();
      expect(await rowOf(id)).toMatchObject({ state: 'dead', token: null });
      await expectNoWork('created');
    });

    it('says interrupted, not the older failure, when the last attempt crashed', async () => {
      const { id } = await add();
      for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
        await repository.retryLater((await claim('created')).claim, 0, ENGINE_DOWN);
        await harness.makeDue(id);
      }
      await claim('created');
      await harness.expireClaim(id);
      expect(await poll('created')).toMatchObject({ job: { error: { code: 'interrupted' } } });
    });

    it('keeps the failure of a job that waits with more attempts than are now allowed', async () => {
      const { id } = await add();
      await repository.retryLater((await claim('created')).claim, 0, ENGINE_DOWN);
      await harness.makeDue(id);
      const answer = await repository.poll('created', new PollId('worker'), TTL, 1);
      expect(answer).toMatchObject({ kind: 'buried', job: { state: 'dead', error: ENGINE_DOWN } });
    });

    it('buries a job once however many ask', async () => {
      const { id } = await add();
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        await claim('created');
        await harness.expireClaim(id);
      }
      const settled = await Promise.allSettled(
        Array.from({ length: 10 }, (_, position) =>
          poll('created', position % 2 === 0 ? repository : harness.other),
        ),
      );
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('does not let a spent job stand in the way of others', async () => {
      const spent = await add();
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        await claim('created');
        await harness.expireClaim(spent.id);
      }
      await harness.makeDue(spent.id, 0);
      const fresh = await add();
      expect((await claim('created')).id).toBe(fresh.id);
      expect(await poll('created')).toMatchObject({ kind: 'buried', job: { id: spent.id } });
    });
  });

  describe('a holder', () => {
    it('prolongs its claim and writes its progress', async () => {
      const held = await claimedIn('transcribe');
      await harness.expireClaim(held.id);
      const expired = (await rowOf(held.id)).expiresAt ?? 0;
      expect(await repository.renew(held.claim, TTL, 0.5)).toBe(true);
      expect((await rowOf(held.id)).expiresAt).toBeGreaterThan(expired);
      expect((await found(held.id)).progress).toBe(0.5);
      await expectNoWork('transcribe');
      expect(await repository.renew(held.claim, TTL, null)).toBe(true);
      expect((await found(held.id)).progress).toBe(0.5);
    });

    it('Scenario: a step that succeeds leaves no trace of earlier failures: attempts start again, the claim is free', async () => {
      const { id } = await add();
      await repository.retryLater((await claim('created')).claim, 0, ENGINE_DOWN);
      await harness.makeDue(id);
      const held = await claim('created');
      expect(held).toMatchObject({ attempts: 2, error: ENGINE_DOWN });
      const result = resultFrom('created', held);
      const job = await repository.advance(held.claim, result);
      expect(job).toMatchObject({
        state: 'converted',
        attempts: 0,
        error: null,
        speechKey: `recordings/${id}/speech-${held.claim.token}.wav`,
        durationSeconds: 3.25,
        warnings: [WARNING],
        progress: 0.1,
        finishedAt: null,
      });
      expect(await rowOf(id)).toMatchObject({ token: null, attempts: 0 });

      const next = await claim('converted');
      expect(next.attempts).toBe(1);
      expect(await repository.advance(next.claim, resultFrom('converted', next))).toMatchObject({
        state: 'transcribe',
        attempts: 0,
        engine: 'pocketsphinx',
        model: 'en-us',
        engineReference: 'ticket-7',
      });
    });

    it('Scenario: state and text become visible together', async () => {
      const held = await claimedIn('transcribe');
      expect(await repository.transcript(held.id)).toBeNull();
      const job = await repository.advance(held.claim, resultFrom('transcribe', held));
      expect(job).toMatchObject({ state: 'done', language: 'en', progress: 1, error: null });
      expect(job?.finishedAt).not.toBeNull();
      expect(job?.attempts).toBe(1); // a finished recording keeps the last step's count
      expect(await harness.other.transcript(held.id)).toEqual(transcriptOf(held.id));
    });

    it('keeps no text of a finish that was refused', async () => {
      const held = await claimedIn('transcribe');
      await repository.cancel(held.id);
      expect(await repository.advance(held.claim, resultFrom('transcribe', held))).toBeNull();
      expect(await harness.transcriptIds()).toEqual([]);
    });

    it('puts the job back for later; the attempt stays counted', async () => {
      const held = await claimedIn('created');
      const job = await repository.retryLater(held.claim, HOUR, ENGINE_DOWN);
      expect(job).toMatchObject({ state: 'created', attempts: 1, error: ENGINE_DOWN });
      expect(job?.nextAttemptAt).toBeGreaterThanOrEqual(held.nextAttemptAt + HOUR);
      await expectNoWork('created');
      await harness.makeDue(held.id);
      expect((await claim('created')).attempts).toBe(2);
    });

    it('puts the job back without cost', async () => {
      const held = await claimedIn('converted');
      expect(await repository.release(held.claim, 0)).toMatchObject({
        state: 'converted',
        attempts: 0,
        error: null,
      });
      const again = await claim('converted');
      expect(again).toMatchObject({ id: held.id, attempts: 1 });
      await repository.release(again.claim, HOUR);
      await expectNoWork('converted');
    });

    it.each(['failed', 'dead'] as const)('ends the job in %s', async (state) => {
      const held = await claimedIn('converted');
      const job = await repository.end(held.claim, state, NOT_MEDIA);
      expect(job).toMatchObject({ state, error: NOT_MEDIA, attempts: 1 });
      expect(job?.finishedAt).not.toBeNull();
      expect(await rowOf(held.id)).toMatchObject({ state, token: null });
    });
  });

  describe('a late holder', () => {
    it.each(WORKING_STATES)(
      'Scenario: a late holder writes nothing: of a job in %s that somebody else holds',
      async (state) => {
        const late = await claimedIn(state);
        await harness.expireClaim(late.id);
        const holder = await claim(state, harness.other);
        const before = await found(late.id);
        const row = await rowOf(late.id);
        await expectRefused(late);
        expect(await found(late.id)).toEqual(before);
        expect(await rowOf(late.id)).toEqual(row);
        expect(await harness.other.holds(holder.claim)).toBe(true);
        expect(await harness.transcriptIds()).toEqual([]);
      },
    );

    it('writes nothing after somebody else has finished the step', async () => {
      const late = await claimedIn('created');
      await harness.expireClaim(late.id);
      const holder = await claim('created', harness.other);
      const moved = await harness.other.advance(holder.claim, resultFrom('created', holder));
      await expectRefused(late);
      expect(await found(late.id)).toEqual(moved);
    });

    it('may still write when its claim ran out but nobody took it (Q8)', async () => {
      for (const [position, [name]] of holderWrites(await claimedIn('created')).entries()) {
        await harness.clear();
        const held = await claimedIn('created');
        await harness.expireClaim(held.id);
        const write = holderWrites(held)[position];
        expect([name, await write?.[1]()]).not.toEqual([name, write?.[2]]);
      }
    });
  });

  describe('called off', () => {
    it.each(WORKING_STATES)('in %s and held, the job stays cancelled', async (state) => {
      const held = await claimedIn(state);
      const job = await harness.other.cancel(held.id);
      expect(job).toMatchObject({ state: 'cancelled' });
      expect(job?.finishedAt).not.toBeNull();
      await expectRefused(held);
      expect(await found(held.id)).toEqual(job);
      await expectNoWork(state);
    });

    it.each(WORKING_STATES)(
      'deleted in %s and held, the job does not rise again',
      async (state) => {
        const held = await claimedIn(state);
        expect(await harness.other.delete(held.id)).toMatchObject({ id: held.id, state });
        await expectRefused(held);
        expect(await harness.rows()).toEqual([]);
        expect(await harness.transcriptIds()).toEqual([]);
      },
    );

    it('and put back, it is not touched by the holder of old', async () => {
      const old = await claimedIn('created');
      await repository.cancel(old.id);
      const job = await repository.retry(old.id);
      await expectRefused(old);
      expect(await found(old.id)).toEqual(job);
      expect((await claim('created')).attempts).toBe(1);
    });

    it('takes the text with the row', async () => {
      const { id } = await jobIn('done');
      const kept = await jobIn('done');
      expect((await harness.transcriptIds()).length).toBe(2);
      expect(await repository.delete(id)).toMatchObject({ id, state: 'done' });
      expect(await harness.transcriptIds()).toEqual([kept.id]);
      expect(await repository.transcript(id)).toBeNull();
      expect(await repository.delete(id)).toBeNull();
    });
  });

  describe('moves from every state', () => {
    it.each(JOB_STATES)('cancel from %s', async (state) => {
      const before = await jobIn(state);
      const job = await repository.cancel(before.id);
      expect(job?.state).toBe(TRANSITIONS[state].cancel);
      expect(await found(before.id)).toEqual(job ?? before);
    });

    it.each(JOB_STATES)('retry from %s', async (state) => {
      const before = await jobIn(state);
      const job = await repository.retry(before.id);
      expect(job?.state).toBe(TRANSITIONS[state].retry);
      expect(await found(before.id)).toEqual(job ?? before);
      if (job !== null) {
        expect(job).toMatchObject({
          attempts: 0,
          error: null,
          speechKey: null,
          durationSeconds: null,
          warnings: [],
          engine: null,
          model: null,
          engineReference: null,
          language: null,
          progress: 0,
          finishedAt: null,
          filename: before.filename,
          createdAt: before.createdAt,
        });
        expect((await claim('created')).id).toBe(before.id);
      }
    });

    it.each(JOB_STATES)('delete from %s', async (state) => {
      const { id } = await jobIn(state);
      expect(await repository.delete(id)).toMatchObject({ id, state });
      expect(await repository.find(id)).toBeNull();
    });

    it('none of them finds a job that does not exist', async () => {
      const id = ids.next();
      expect(await repository.cancel(id)).toBeNull();
      expect(await repository.retry(id)).toBeNull();
      expect(await repository.delete(id)).toBeNull();
      expect(await repository.transcript(id)).toBeNull();
    });

    it('keeps token and expiry together after every single one (J4)', async () => {
      const { id } = await add();
      let held = await claim('created');
      const steps: (() => Promise<unknown>)[] = [
        () => repository.renew(held.claim, TTL, 0.05),
        () => repository.release(held.claim, 0),
        async () => (held = await claim('created')),
        () => repository.retryLater(held.claim, 0, ENGINE_DOWN),
        () => harness.makeDue(id),
        async () => (held = await claim('created')),
        () => repository.advance(held.claim, resultFrom('created', held)),
        async () => (held = await claim('converted')),
        () => repository.cancel(id),
        () => repository.retry(id),
        async () => (held = await claim('created')),
        () => repository.end(held.claim, 'failed', NOT_MEDIA),
        () => repository.retry(id),
        async () => (held = await claim('created')),
        () => repository.end(held.claim, 'dead', ENGINE_DOWN),
        () => repository.delete(id),
      ];
      for (const step of steps) {
        await step();
        await expectInvariants();
      }
    });
  });

  describe('looking', () => {
    it('lists newest first and goes on after the last one seen', async () => {
      const made: string[] = [];
      for (let count = 0; count < 7; count += 1) {
        made.unshift((await add()).id);
      }
      const seen: string[] = [];
      for (;;) {
        const page = await repository.list({}, 3, seen.at(-1) ?? null);
        if (page.length === 0) {
          break;
        }
        expect(page.length).toBeLessThanOrEqual(3);
        seen.push(...page.map(({ id }) => id));
      }
      expect(seen).toEqual(made);
    });

    it('filters by state, by source and by both', async () => {
      const cancelled = await add({ source: 'telegram' });
      await repository.cancel(cancelled.id);
      const waiting = await add({ source: 'telegram' });
      const other = await add({ source: 'http' });
      const listed = async (...values: Parameters<JobRepository['list']>): Promise<string[]> =>
        (await repository.list(...values)).map(({ id }) => id);
      expect(await listed({ state: 'created' }, 10, null)).toEqual([other.id, waiting.id]);
      expect(await listed({ source: 'telegram' }, 10, null)).toEqual([waiting.id, cancelled.id]);
      expect(await listed({ state: 'created', source: 'telegram' }, 10, null)).toEqual([
        waiting.id,
      ]);
      expect(await listed({ state: 'created' }, 10, other.id)).toEqual([waiting.id]);
      expect(await listed({ state: 'done' }, 10, null)).toEqual([]);
    });

    it('tells which ids exist, with the audio a working job still needs', async () => {
      const converted = await claimedIn('converted');
      await repository.release(converted.claim, HOUR);
      const done = await jobIn('done');
      const failed = await jobIn('failed');
      const created = await jobIn('created'); // the last: the others begin by claiming
      const missing = ids.next();
      const found = await repository.existing([
        created.id,
        converted.id,
        done.id,
        failed.id,
        missing,
      ]);
      expect(converted.speechKey).not.toBeNull();
      expect(failed.speechKey).not.toBeNull();
      expect([...found].sort()).toEqual(
        [
          [created.id, null],
          [converted.id, converted.speechKey],
          [done.id, null],
          [failed.id, null],
        ].sort(),
      );
      expect(await repository.existing([])).toEqual(new Map());
    });

    it('counts the states with their oldest job, and leaves empty states out', async () => {
      expect(await repository.depths()).toEqual([]);
      const cancelled = await jobIn('cancelled');
      const first = await add();
      await add();
      const depths = [...(await repository.depths())].sort((a, b) => (a.state < b.state ? -1 : 1));
      expect(depths).toEqual([
        { state: 'cancelled', count: 1, oldestCreatedAt: cancelled.createdAt },
        { state: 'created', count: 2, oldestCreatedAt: first.createdAt },
      ]);
    });
  });

  it('throws nothing but AppError and NoopError', async () => {
    const { id } = await add();
    const twice = repository.create(newJob(id)).catch((error: unknown) => error);
    expect(await twice).toBeInstanceOf(AppError);
    expect(await twice).toMatchObject({ code: 'storage_unavailable' });
  });
}
