import { FakeClock, settle } from '../../../../test/fakes/fake-clock';
import { FakeLogFactory, type LogRecord } from '../../../../test/fakes/fake-log';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import { newJob, TestIds } from '../../../../test/fakes/test-jobs';
import { AppError } from '../../../common/errors/app-error';
import { NoopError, PollId } from '../../../common/errors/noop';
import type { ClaimedJob, Job } from '../domain/job';
import type { PollAnswer } from '../persistence/job.repository.port';
import { PipelineEvents, type PipelineEventMap } from '../pipeline.events';
import { RunningSteps } from './running-steps';
import { Step, type StepContext, type StepOutcome } from './step';
import { StepRecords } from './step-records';
import { StepRunner } from './step-runner';

const settings = {
  pollMs: 1000,
  claimTtlMs: 60_000,
  maxAttempts: 3,
  backoffBaseMs: 5000,
  backoffMaxMs: 3_600_000,
};

const converted = (speechKey = 'recordings/x/speech.wav'): StepOutcome => ({
  kind: 'advance',
  result: { to: 'converted', speechKey, durationSeconds: 2, warnings: [] },
});

class TestStep extends Step {
  readonly worker = 'convert';
  readonly from = 'created';
  signal: AbortSignal | undefined;

  constructor(
    public work: (job: ClaimedJob, context: StepContext) => Promise<StepOutcome> = async () =>
      converted(),
  ) {
    super();
  }

  perform(job: ClaimedJob, context: StepContext): Promise<StepOutcome> {
    this.signal = context.signal;
    return this.work(job, context);
  }
}

/** A step's work that goes on until its signal aborts. */
const untilStopped = (_job: ClaimedJob, { signal }: StepContext): Promise<StepOutcome> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

describe('StepRunner', () => {
  const ids = new TestIds();
  let clock: FakeClock;
  let repository: InMemoryJobRepository;
  let logs: FakeLogFactory;
  let running: RunningSteps;
  let runner: StepRunner;
  let events: PipelineEvents;
  let told: { [K in keyof PipelineEventMap]: PipelineEventMap[K][0][] };

  beforeEach(() => {
    clock = new FakeClock();
    repository = new InMemoryJobRepository(clock);
    logs = new FakeLogFactory();
    running = new RunningSteps();
    events = new PipelineEvents();
    told = {
      changed: [],
      progress: [],
      deleted: [],
      step: [],
      pollFailed: [],
      claimLost: [],
      recognized: [],
      swept: [],
    };
    for (const name of Object.keys(told) as (keyof PipelineEventMap)[]) {
      events.on(name, (value) => (told[name] as unknown[]).push(value));
    }
    runner = new StepRunner({
      repository,
      clock,
      events,
      running,
      logs,
      settings,
      random: () => 0,
    });
  });

  afterEach(() => {
    expect(clock.pendingTimers).toBe(0); // no heartbeat outlives its step
  });

  async function add(): Promise<string> {
    return (await repository.create(newJob(ids.next()))).job.id;
  }

  function jobOf(id: string): Job {
    const entry = repository.entries.get(id);
    if (entry === undefined) {
      throw new Error('no such job');
    }
    return entry.job;
  }

  const failures = (): LogRecord[] => logs.visible.filter(({ level }) => level !== 'info');

  /** Runs the step while time passes, as long as it needs. */
  async function runFor(step: Step, ms: number): Promise<'worked' | 'idle'> {
    const run = runner.run(step);
    await settle(); // the step is under way
    await clock.advance(ms);
    return run;
  }

  /** Lets the poll answer with `error`, given the identity of the poll that asked. */
  function pollAnswers(makeError: (poll: PollId) => unknown): void {
    jest.spyOn(repository, 'poll').mockImplementation(async (_state, poll): Promise<PollAnswer> => {
      throw makeError(poll);
    });
  }

  describe('Scenario: no work in the state', () => {
    it('writes nothing for the owner and counts nothing', async () => {
      expect(await runner.run(new TestStep())).toBe('idle');
      expect(logs.visible).toEqual([]);
      expect(told.step).toEqual([]);
      expect(told.pollFailed).toEqual([]);
    });
  });

  describe('Scenario: the sign of an empty run arrives with an explanation', () => {
    const wrapped: [string, (noop: Error) => unknown][] = [
      ['one explanation', (noop) => new Error('asking the queue', { cause: noop })],
      [
        'twenty explanations',
        (noop) => {
          let error = noop;
          for (let depth = 0; depth < 20; depth += 1) {
            error = new Error(`layer ${depth}`, { cause: error });
          }
          return error;
        },
      ],
      ['an aggregate', (noop) => new AggregateError([new Error('another'), noop], 'both')],
      [
        'an aggregate below an explanation',
        (noop) =>
          new Error('deep', { cause: new AggregateError([new TypeError('x', { cause: noop })]) }),
      ],
    ];

    it.each(wrapped)('%s: still idle, no count, no record', async (_name, wrap) => {
      pollAnswers((poll) => wrap(new NoopError(poll)));
      expect(await runner.run(new TestStep())).toBe('idle');
      expect(logs.visible).toEqual([]);
      expect(told.step).toEqual([]);
      expect(told.pollFailed).toEqual([]);
    });

    it("another poll's sign is a failed poll, not an idle one", async () => {
      pollAnswers(() => new NoopError(new PollId('convert')));
      await expect(runner.run(new TestStep())).rejects.toMatchObject({
        code: 'storage_unavailable',
      });
      expect(told.pollFailed).toEqual([
        { worker: 'convert', error: expect.objectContaining({ code: 'storage_unavailable' }) },
      ]);
    });

    it('a failure that took the sign into its own meaning is a failed poll', async () => {
      pollAnswers((poll) => new AppError('storage_full', { cause: new NoopError(poll) }));
      await expect(runner.run(new TestStep())).rejects.toMatchObject({ code: 'storage_full' });
      expect(told.pollFailed).toHaveLength(1);
    });
  });

  describe('Scenario: the step failed', () => {
    it('shows the owner one record, with the job, and counts one failure', async () => {
      const id = await add();
      const step = new TestStep(async () => {
        clock.setWall(clock.now() + 5);
        throw new AppError('converter_unavailable', { cause: new Error('spawn ENOENT') });
      });
      expect(await runner.run(step)).toBe('worked');
      expect(logs.visible).toEqual([
        {
          context: 'pipeline',
          level: 'warn',
          message: 'step failed',
          fields: {
            job_id: id,
            worker: 'convert',
            attempt: 1,
            state: 'created',
            code: 'converter_unavailable',
            reason: 'spawn ENOENT',
          },
        },
      ]);
      expect(told.step).toEqual([{ worker: 'convert', result: 'failure', seconds: 0 }]);
      expect(told.changed).toEqual([jobOf(id)]);
    });

    const foreign = new NoopError(new PollId('dispatch'));
    it.each<[string, unknown]>([
      ['bare', foreign],
      ['as a cause', new Error('engine', { cause: foreign })],
      ['in an aggregate', new AggregateError([foreign], 'engines')],
      ['in a failure of ours', new AppError('engine_failed', { cause: foreign })],
    ])('also when a foreign sign of an empty run is mixed in: %s', async (_name, error) => {
      const id = await add();
      expect(await runner.run(new TestStep(() => Promise.reject(error as Error)))).toBe('worked');
      expect(failures()).toHaveLength(1);
      expect(failures()[0]?.fields).toMatchObject({ job_id: id });
      expect(failures()[0]?.fields['reason']).toContain('no work in this state');
      expect(told.step).toEqual([expect.objectContaining({ result: 'failure' })]);
      expect(jobOf(id)).toMatchObject({ attempts: 1 });
      expect(jobOf(id).nextAttemptAt).toBeGreaterThan(clock.now());
    });

    it("also when the sign is of the runner's own kind of poll, of the same worker", async () => {
      const id = await add();
      const mine: PollId[] = [];
      const poll = repository.poll.bind(repository);
      jest.spyOn(repository, 'poll').mockImplementation((state, identity, ttl, max) => {
        mine.push(identity);
        return poll(state, identity, ttl, max);
      });
      const step = new TestStep(async () => {
        throw new NoopError(mine[0] ?? new PollId('convert'));
      });
      expect(await runner.run(step)).toBe('worked');
      expect(mine).toHaveLength(1);
      expect(failures()).toHaveLength(1);
      expect(jobOf(id).error?.code).toBe('internal');
    });

    it('Scenario: a failure that cannot pass ends the job at once', async () => {
      const id = await add();
      await runner.run(
        new TestStep(async () => {
          throw new AppError('not_media', { detail: 'a text' });
        }),
      );
      expect(jobOf(id)).toMatchObject({
        state: 'failed',
        attempts: 1,
        error: { code: 'not_media', detail: 'a text' },
      });
      expect(failures()).toHaveLength(1);
      expect(failures()[0]).toMatchObject({ level: 'warn', fields: { state: 'failed' } });
    });

    it('Scenario: a failure that may pass is tried again later and ends dead when the attempts are spent', async () => {
      const id = await add();
      const step = new TestStep(async () => {
        throw new AppError('engine_unavailable');
      });
      const delays: number[] = [];
      for (let attempt = 1; attempt <= settings.maxAttempts; attempt += 1) {
        expect(await runner.run(step)).toBe('worked');
        expect(await runner.run(step)).toBe('idle');
        const delay = jobOf(id).nextAttemptAt - clock.now();
        delays.push(delay);
        await clock.advance(delay);
      }
      expect(delays.slice(0, 2)).toEqual([5000, 10_000]);
      expect(jobOf(id)).toMatchObject({
        state: 'dead',
        attempts: 3,
        error: { code: 'engine_unavailable' },
      });
      expect(failures().map(({ level }) => level)).toEqual(['warn', 'warn', 'error']);
      expect(failures()[2]?.fields).toMatchObject({ job_id: id, state: 'dead', attempt: 3 });
      expect(told.step).toHaveLength(3);
    });

    it('an error without a meaning is tried again as internal, and its words stay in the log', async () => {
      const id = await add();
      await runner.run(
        new TestStep(() => {
          throw new TypeError('secret of the machine');
        }),
      );
      expect(jobOf(id)).toMatchObject({ state: 'created', error: { code: 'internal' } });
      expect(jobOf(id).error?.detail).not.toContain('secret');
      expect(failures()[0]?.fields['reason']).toBe('secret of the machine');
    });

    it('Scenario: attempts that were all spent on crashes end the job dead: one record at error, one count', async () => {
      const id = await add();
      for (let attempt = 1; attempt <= settings.maxAttempts; attempt += 1) {
        await repository.poll('created', new PollId('x'), settings.claimTtlMs, 9);
        await clock.advance(settings.claimTtlMs);
      }
      expect(await runner.run(new TestStep())).toBe('worked');
      expect(jobOf(id)).toMatchObject({ state: 'dead', error: { code: 'interrupted' } });
      expect(logs.visible).toHaveLength(1);
      expect(logs.visible[0]).toMatchObject({
        level: 'error',
        fields: { job_id: id, code: 'interrupted', state: 'dead' },
      });
      expect(told.step).toEqual([{ worker: 'convert', result: 'failure', seconds: 0 }]);
      expect(told.changed).toEqual([jobOf(id)]);
    });
  });

  describe('Scenario: the step did work', () => {
    it('counts one success and writes no record of a failure', async () => {
      const id = await add();
      const step = new TestStep(async () => {
        await clock.sleep(1500);
        return converted();
      });
      expect(await runFor(step, 1500)).toBe('worked');
      expect(told.step).toEqual([{ worker: 'convert', result: 'success', seconds: 1.5 }]);
      expect(logs.visible).toEqual([]);
      expect(jobOf(id)).toMatchObject({ state: 'converted', attempts: 0, error: null });
      expect(told.changed).toEqual([jobOf(id)]);
    });

    it('tells how much audio took how long once the transcript is saved, and only then', async () => {
      const id = await add();
      await runner.run(new TestStep());
      expect(told.recognized).toEqual([]);
      const entry = repository.entries.get(id);
      if (entry === undefined) {
        throw new Error('no such job');
      }
      const ended = {
        ...entry.job,
        state: 'done',
        engine: 'pocketsphinx',
        durationSeconds: 5,
      } as const;
      new StepRecords(logs.for('pipeline'), events, clock).succeeded(
        {
          worker: 'collect',
          job: {
            ...entry.job,
            state: 'transcribe',
            claim: { jobId: id, state: 'transcribe', token: 't' },
          },
          signal: new AbortController().signal,
          startedAt: clock.monotonic() - 2500,
        },
        ended,
      );
      expect(told.recognized).toEqual([
        { engine: 'pocketsphinx', audioSeconds: 5, workSeconds: 2.5 },
      ]);
    });

    it('Scenario: a claim is kept for as long as its step takes', async () => {
      const id = await add();
      const step = new TestStep(async () => {
        await clock.sleep(10 * settings.claimTtlMs);
        return converted();
      });
      const run = runner.run(step);
      await settle();
      for (let slice = 0; slice < 100; slice += 1) {
        await clock.advance(settings.claimTtlMs / 10);
        expect(await runner.run(new TestStep())).toBe('idle');
      }
      expect(await run).toBe('worked');
      expect(jobOf(id)).toMatchObject({ state: 'converted' });
      expect(told.claimLost).toEqual([]);
    });

    it('tells and saves its progress', async () => {
      const id = await add();
      const step = new TestStep(async (_job, { progress }) => {
        progress(0.05);
        await clock.sleep(2000);
        expect(jobOf(id).progress).toBe(0.05);
        return converted();
      });
      await runFor(step, 2000);
      expect(told.progress).toEqual([{ jobId: id, progress: 0.05 }]);
      expect(failures()).toEqual([]);
      expect(jobOf(id).state).toBe('converted');
    });
  });

  describe('a step that waits for work elsewhere', () => {
    const wait = (progress: number | null): StepOutcome => ({
      kind: 'wait',
      checkAfterMs: 30_000,
      progress,
    });

    it('costs no attempt, counts nothing, and is asked again after the pause', async () => {
      const id = await add();
      const step = new TestStep(async () => wait(0.4));
      expect(await runner.run(step)).toBe('worked');
      expect(jobOf(id)).toMatchObject({
        state: 'created',
        attempts: 0,
        progress: 0.4,
        error: null,
      });
      expect(await runner.run(step)).toBe('idle');
      await clock.advance(30_000);
      expect(await runner.run(step)).toBe('worked');
      expect(told.step).toEqual([]);
      expect(logs.visible).toEqual([]);
    });

    it('is not failed by a storage that is away for a moment', async () => {
      const id = await add();
      repository.failNext('renew', new AppError('storage_unavailable'));
      repository.failNext('release', new AppError('storage_unavailable'));
      expect(await runFor(new TestStep(async () => wait(0.4)), 5000)).toBe('worked');
      expect(jobOf(id)).toMatchObject({ attempts: 0, progress: 0.4, error: null });
      expect(failures()).toEqual([]);
    });

    it('is told lost when somebody else has taken the job', async () => {
      const id = await add();
      await runner.run(
        new TestStep(async (job) => {
          await takeOver(job);
          return wait(null);
        }),
      );
      expect(told.claimLost).toEqual([{ worker: 'convert', jobId: id }]);
      expect(failures()).toHaveLength(1);
    });
  });

  /** Somebody else takes the job's claim, as after a suspension of this process. */
  async function takeOver({ id }: ClaimedJob): Promise<void> {
    const entry = repository.entries.get(id);
    if (entry?.claim) {
      entry.claim = { ...entry.claim, expiresAt: 0 };
    }
    await repository.poll('created', new PollId('another'), settings.claimTtlMs, 99);
  }

  describe('a claim that was lost', () => {
    it('Scenario: a lost claim stops its step: one WARN and one event, nothing written', async () => {
      const id = await add();
      const step = new TestStep(async (job, context) => {
        await takeOver(job);
        return untilStopped(job, context);
      });
      expect(await runFor(step, 1000)).toBe('worked');
      expect(step.signal?.aborted).toBe(true);
      expect(failures()).toEqual([
        expect.objectContaining({
          level: 'warn',
          message: 'claim lost, result not written',
          fields: { job_id: id, worker: 'convert' },
        }),
      ]);
      expect(told.claimLost).toEqual([{ worker: 'convert', jobId: id }]);
      expect(told.step).toEqual([]);
      expect(told.changed).toEqual([]);
      expect(jobOf(id)).toMatchObject({ state: 'created', attempts: 2, error: null });
    });

    it.each<[string, () => Promise<StepOutcome>]>([
      ['a result', async () => converted()],
      [
        'a failure',
        async () => {
          throw new AppError('not_media');
        },
      ],
    ])('found out at the end, with %s in hand', async (_name, end) => {
      const id = await add();
      await runner.run(
        new TestStep(async (job) => {
          await takeOver(job);
          return end();
        }),
      );
      expect(failures()).toHaveLength(1);
      expect(told.claimLost).toHaveLength(1);
      expect(told.step).toEqual([]);
      expect(jobOf(id)).toMatchObject({ state: 'created', attempts: 2, error: null });
    });

    it('undoes what the step made', async () => {
      await add();
      const undo = jest.fn(async () => undefined);
      await runner.run(
        new TestStep(async (job) => {
          await takeOver(job);
          return { ...(converted() as StepOutcome & { kind: 'advance' }), undo };
        }),
      );
      expect(undo).toHaveBeenCalledTimes(1);
    });

    it('stays a lost claim when undoing fails', async () => {
      const id = await add();
      const undo = (): Promise<void> => Promise.reject(new AppError('storage_unavailable'));
      await runner.run(
        new TestStep(async (job) => {
          await takeOver(job);
          return { ...(converted() as StepOutcome & { kind: 'advance' }), undo };
        }),
      );
      expect(told.claimLost).toHaveLength(1);
      expect(told.step).toEqual([]);
      expect(jobOf(id)).toMatchObject({ attempts: 2, error: null });
    });
  });

  describe('a recording that is called off in the middle', () => {
    const callOff: [string, 'cancelled' | 'deleted', (id: string) => Promise<unknown>][] = [
      ['cancelled', 'cancelled', (id) => repository.cancel(id)],
      ['deleted', 'deleted', (id) => repository.delete(id)],
    ];

    it.each(callOff)('%s here: the signal aborts at once', async (_name, reason, act) => {
      const id = await add();
      const step = new TestStep(untilStopped);
      const run = runner.run(step);
      await settle();
      await act(id);
      running.stop(id, reason);
      expect(await run).toBe('worked');
      expect(step.signal?.reason).toMatchObject({ name: 'StepStopped', reason });
      expect(failures()).toEqual([]);
      expect(told.step).toEqual([]);
      expect(told.claimLost).toEqual([]);
      expect(repository.entries.get(id)?.job.state).toBe(
        reason === 'cancelled' ? 'cancelled' : undefined,
      );
    });

    it.each(callOff)(
      'Scenario: a recording called off by another process stops within a second: %s',
      async (_name, _why, act) => {
        const id = await add();
        const step = new TestStep(untilStopped);
        const run = runner.run(step);
        await settle();
        await act(id);
        await clock.advance(1000);
        expect(await run).toBe('worked');
        expect(step.signal?.aborted).toBe(true);
        expect(failures()).toEqual([]);
        expect(told.step).toEqual([]);
        expect(told.claimLost).toEqual([]);
      },
    );

    it.each(callOff)('%s while the step ends: its result is undone', async (_name, _why, act) => {
      const id = await add();
      const undo = jest.fn(async () => undefined);
      await runner.run(
        new TestStep(async () => {
          await act(id);
          return { ...(converted() as StepOutcome & { kind: 'advance' }), undo };
        }),
      );
      expect(undo).toHaveBeenCalledTimes(1);
      expect(failures()).toEqual([]);
      expect(told.step).toEqual([]);
      expect(told.claimLost).toEqual([]);
      expect(repository.entries.get(id)?.job.state).not.toBe('converted');
    });

    it('and put back before the step has ended is still no lost claim', async () => {
      const id = await add();
      const step = new TestStep(untilStopped);
      const run = runner.run(step);
      await settle();
      await repository.cancel(id);
      await repository.retry(id);
      running.stop(id, 'cancelled');
      await run;
      expect(failures()).toEqual([]);
      expect(told.claimLost).toEqual([]);
      expect(jobOf(id)).toMatchObject({ state: 'created', attempts: 0 });
    });
  });

  describe('a shutdown', () => {
    it('stops the step and gives the attempt back', async () => {
      const id = await add();
      const step = new TestStep(untilStopped);
      const run = runner.run(step);
      await settle();
      expect(jobOf(id).attempts).toBe(1);
      running.stopAll('shutdown');
      expect(await run).toBe('worked');
      expect(jobOf(id)).toMatchObject({ state: 'created', attempts: 0, error: null });
      expect(failures()).toEqual([]);
      expect(told.step).toEqual([]);
      expect(await runner.run(new TestStep())).toBe('worked'); // at once there for another process
    });

    it('keeps the result of a step that came to its end all the same', async () => {
      const id = await add();
      await runner.run(
        new TestStep(async () => {
          running.stopAll('shutdown');
          return converted();
        }),
      );
      expect(jobOf(id).state).toBe('converted');
      expect(told.step).toEqual([expect.objectContaining({ result: 'success' })]);
    });

    it('tells that the job could not be given back', async () => {
      const id = await add();
      const step = new TestStep(untilStopped);
      const run = runner.run(step);
      await settle();
      repository.failNext('release', new AppError('storage_unavailable'), Infinity);
      running.stopAll('shutdown');
      await clock.advance(settings.claimTtlMs + 1000);
      await run;
      expect(logs.visible).toEqual([
        expect.objectContaining({
          fields: { job_id: id, worker: 'convert', released: false },
        }),
      ]);
    });
  });

  describe('a storage that fails when the result is to be saved', () => {
    it('Scenario: a result is kept through a storage that is away for a moment', async () => {
      const id = await add();
      repository.failNext('advance', new AppError('storage_full'), 20);
      await runFor(new TestStep(), 30_000);
      expect(jobOf(id)).toMatchObject({ state: 'converted' });
      expect(told.step).toEqual([expect.objectContaining({ result: 'success' })]);
      expect(failures()).toEqual([]);
    });

    it('for longer than the claim lasts: one record, one count, and the job is taken up again', async () => {
      const id = await add();
      repository.failNext('advance', new AppError('storage_full'), Infinity);
      const undo = jest.fn(async () => undefined);
      const step = new TestStep(async () => ({
        ...(converted() as StepOutcome & { kind: 'advance' }),
        undo,
      }));
      await runFor(step, settings.claimTtlMs + 1000);
      expect(failures()).toHaveLength(1);
      expect(failures()[0]?.fields).toMatchObject({
        job_id: id,
        code: 'storage_full',
        saved: false,
      });
      expect(told.step).toEqual([expect.objectContaining({ result: 'failure' })]);
      expect(undo).toHaveBeenCalledTimes(1);
      expect(jobOf(id)).toMatchObject({ state: 'created', error: null });
      repository.healed('advance');
      await clock.advance(settings.claimTtlMs);
      expect(await runner.run(new TestStep())).toBe('worked');
      expect(jobOf(id)).toMatchObject({ state: 'converted' });
    });

    it('keeps what the step made while nobody can say whether the row speaks of it', async () => {
      await add();
      for (const method of ['advance', 'find', 'holds', 'renew'] as const) {
        repository.failNext(method, new AppError('storage_unavailable'), Infinity);
      }
      const undo = jest.fn(async () => undefined);
      const step = new TestStep(async () => ({
        ...(converted() as StepOutcome & { kind: 'advance' }),
        undo,
      }));
      await runFor(step, 3 * settings.claimTtlMs);
      expect(undo).not.toHaveBeenCalled();
      expect(failures()).toHaveLength(1);
      expect(failures()[0]?.fields).toMatchObject({ code: 'storage_unavailable', saved: false });
    });

    it('Scenario: a result whose acknowledgement was lost stands: its audio with it (Q31)', async () => {
      const id = await add();
      repository.loseAnswer('advance', new AppError('storage_unavailable'));
      const undo = jest.fn(async () => undefined);
      const step = new TestStep(async () => ({
        ...(converted() as StepOutcome & { kind: 'advance' }),
        undo,
      }));
      await runFor(step, 5000);
      expect(undo).not.toHaveBeenCalled();
      expect(jobOf(id)).toMatchObject({ state: 'converted' });
      expect(told.step).toEqual([expect.objectContaining({ result: 'success' })]);
      expect(told.changed).toEqual([jobOf(id)]);
      expect(told.claimLost).toEqual([]);
      expect(failures()).toEqual([]);
    });

    it.each(['not_media', 'engine_failed'] as const)(
      'and whose answer to a failure (%s) was lost: that failure is the record',
      async (code) => {
        const id = await add();
        repository.loseAnswer(
          code === 'not_media' ? 'end' : 'retryLater',
          new AppError('storage_unavailable'),
        );
        await runFor(new TestStep(() => Promise.reject(new AppError(code))), 5000);
        expect(jobOf(id).error?.code).toBe(code);
        expect(failures()).toHaveLength(1);
        expect(failures()[0]?.fields).toMatchObject({ job_id: id, code });
        expect(told.claimLost).toEqual([]);
      },
    );

    it('also at the failure of a step: the failure is recorded once, and the claim runs out', async () => {
      const id = await add();
      repository.failNext('retryLater', new AppError('storage_full'), Infinity);
      const step = new TestStep(() => Promise.reject(new AppError('engine_failed')));
      await runFor(step, settings.claimTtlMs + 1000);
      expect(failures()).toHaveLength(1);
      expect(failures()[0]?.fields).toMatchObject({
        job_id: id,
        code: 'engine_failed',
        saved: false,
      });
      expect(told.step).toHaveLength(1);
      expect(jobOf(id)).toMatchObject({ state: 'created', attempts: 1 });
    });

    it('does not take the trace of an earlier failure for its own', async () => {
      const id = await add();
      const step = new TestStep(() => Promise.reject(new AppError('engine_failed')));
      await runner.run(step);
      await clock.advance(5000);
      repository.failNext('retryLater', new AppError('storage_full'), Infinity);
      await runFor(step, settings.claimTtlMs + 1000);
      expect(failures()).toHaveLength(2);
      expect(failures()[1]?.fields).toMatchObject({ job_id: id, attempt: 2, saved: false });
    });
  });

  it('fails the run, and makes no record of its own, when the storage does not answer the poll', async () => {
    repository.failNext('poll', new Error('disk'));
    await expect(runner.run(new TestStep())).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    expect(logs.visible).toEqual([]); // the loop that waits records it
    expect(told.pollFailed).toHaveLength(1);
  });
});
