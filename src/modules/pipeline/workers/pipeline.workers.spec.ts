import { FakeClock, settle } from '../../../../test/fakes/fake-clock';
import { FakeLogFactory } from '../../../../test/fakes/fake-log';
import { FakeMediaConverter } from '../../../../test/fakes/fake-media-converter';
import { FakePollSchedule } from '../../../../test/fakes/fake-poll-schedule';
import { FakeRecognizer, fails, Hold, pending } from '../../../../test/fakes/fake-recognizer';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { InMemoryLeftoverJournal } from '../../../../test/fakes/in-memory.leftover-journal';
import { newJob, TestIds } from '../../../../test/fakes/test-jobs';
import { AppError } from '../../../common/errors/app-error';
import { Draining } from '../../../common/lifecycle/draining';
import { PipelineFacade } from '../application/pipeline.facade';
import { RunningSteps } from '../application/running-steps';
import { StepRunner } from '../application/step-runner';
import { blobKeys, type Job } from '../domain/job';
import { PipelineEvents } from '../pipeline.events';
import { CollectStep } from './collect.step';
import { ConvertStep } from './convert.step';
import { DispatchStep } from './dispatch.step';
import { PipelineWorkers } from './pipeline.workers';

const GRACE = 10_000;
const settings = {
  pollMs: 1000,
  claimTtlMs: 60_000,
  maxAttempts: 3,
  backoffBaseMs: 5000,
  backoffMaxMs: 3_600_000,
};

describe('PipelineWorkers', () => {
  const ids = new TestIds();
  let clock: FakeClock;
  let repository: InMemoryJobRepository;
  let blobs: InMemoryBlobStore;
  let converter: FakeMediaConverter;
  let recognizer: FakeRecognizer;
  let schedule: FakePollSchedule;
  let logs: FakeLogFactory;
  let events: PipelineEvents;
  let facade: PipelineFacade;
  let workers: PipelineWorkers;
  let states: string[];
  let steps: string[];

  beforeEach(() => {
    clock = new FakeClock();
    repository = new InMemoryJobRepository(clock);
    blobs = new InMemoryBlobStore(clock);
    converter = new FakeMediaConverter();
    recognizer = new FakeRecognizer();
    schedule = new FakePollSchedule();
    logs = new FakeLogFactory();
    events = new PipelineEvents();
    states = [];
    steps = [];
    events.on('changed', (job) => states.push(job.state));
    events.on('step', ({ worker, result }) => steps.push(`${worker} ${result}`));
    const running = new RunningSteps();
    facade = new PipelineFacade(
      repository,
      blobs,
      running,
      events,
      new InMemoryLeftoverJournal(),
      new FakeLogFactory(),
    );
    const limits = { uploadBytes: 1000, recordingSeconds: 60 };
    const random = (): number => 0;
    const concurrency = 2;
    workers = new PipelineWorkers({
      steps: [
        { step: new ConvertStep(blobs, converter, limits), concurrency },
        { step: new DispatchStep(blobs, recognizer), concurrency },
        { step: new CollectStep(blobs, recognizer), concurrency },
      ],
      runner: new StepRunner({ repository, clock, events, running, logs, settings, random }),
      schedule,
      events,
      running,
      draining: new Draining(clock, GRACE),
      clock,
      logs,
      settings,
    });
  });

  afterEach(() => blobs.dispose());

  async function add(): Promise<string> {
    const id = ids.next();
    blobs.put(blobKeys.original(id), 'opus');
    await facade.create(newJob(id));
    return id;
  }

  const stateOf = (id: string): Job['state'] | undefined => repository.entries.get(id)?.job.state;

  /** Resolves once a job has come into `state`. */
  function reaches(state: Job['state']): Promise<void> {
    return new Promise((resolve) => {
      const off = events.on('changed', (job) => {
        if (job.state === state) {
          off();
          resolve();
        }
      });
    });
  }

  const visibleFailures = (): unknown[] => logs.visible.filter(({ level }) => level !== 'info');

  /** A second, with the poll at its end. */
  async function second(): Promise<void> {
    await clock.advance(settings.pollMs);
    schedule.tickAll();
    await settle();
  }

  /** Second after second until `end`; the steps' files are real, so the clock may run ahead of them. */
  async function secondsUntil(end: Promise<void>): Promise<void> {
    let ended = false;
    void end.then(() => (ended = true));
    for (let passed = 0; !ended; passed += 1) {
      expect(passed).toBeLessThan(1000);
      await second();
    }
  }

  it('Scenario: a job that comes into a state wakes its worker at once: to its end without a poll', async () => {
    workers.start();
    const done = reaches('done');
    const id = await add();
    await done;
    expect(states).toEqual(['created', 'converted', 'transcribe', 'done']);
    expect(steps).toEqual(['convert success', 'dispatch success', 'collect success']);
    expect(await facade.transcript(id)).toMatchObject({ text: 'hello world' });
    expect(visibleFailures()).toEqual([]);
    await workers.stop();
  });

  it('takes up at the start what was left in every state', async () => {
    const done = reaches('done');
    await add();
    workers.start();
    await done;
    await workers.stop();
    expect(steps).toHaveLength(3);
  });

  it('polls each state at the pace that was set', () => {
    workers.start();
    expect([...schedule.intervals].map(([name, { intervalMs }]) => [name, intervalMs])).toEqual([
      ['convert', 1000],
      ['dispatch', 1000],
      ['collect', 1000],
    ]);
  });

  it('Scenario: what another process has put there is found at the next poll', async () => {
    workers.start();
    await settle();
    const done = reaches('done');
    const id = ids.next();
    blobs.put(blobKeys.original(id), 'opus');
    await repository.create(newJob(id)); // nobody in this process is told
    await secondsUntil(done);
    await workers.stop();
  });

  it('polls in silence for as long as there is no work', async () => {
    workers.start();
    for (let poll = 0; poll < 50; poll += 1) {
      await second();
    }
    expect(repository.calls.filter((call) => call === 'poll').length).toBeGreaterThanOrEqual(150);
    expect(logs.visible).toEqual([]);
    expect(steps).toEqual([]);
    await workers.stop();
  });

  it('works on as many jobs of a state at a time as it may', async () => {
    const holds = [new Hold(), new Hold(), new Hold()];
    recognizer.onCollect(...holds.map((hold) => hold.behaviour()));
    workers.start();
    for (let count = 0; count < 3; count += 1) {
      await add();
    }
    await holds[0]?.entered;
    await holds[1]?.entered;
    await second();
    expect(recognizer.collected).toHaveLength(2);
    holds[0]?.release();
    await holds[2]?.entered;
    holds[1]?.release();
    holds[2]?.release();
    await workers.stop();
    expect(states.filter((state) => state === 'done')).toHaveLength(3);
  });

  it('asks again for work that goes on elsewhere, and counts only its end', async () => {
    recognizer.onCollect(pending(30_000), pending(30_000));
    workers.start();
    const handedIn = reaches('transcribe');
    const done = reaches('done');
    const id = await add();
    await handedIn;
    const startedAt = clock.now();
    await secondsUntil(done);
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(60_000);
    expect(recognizer.collected).toHaveLength(3);
    expect(steps.filter((step) => step.startsWith('collect'))).toEqual(['collect success']);
    expect(repository.entries.get(id)?.job.attempts).toBe(1);
    await workers.stop();
  });

  it('tries a failed step again by itself, when its time has come', async () => {
    recognizer.onCollect(fails(new AppError('engine_failed')));
    workers.start();
    const failed = reaches('transcribe').then(() => reaches('transcribe'));
    const done = reaches('done');
    await add();
    await failed;
    await secondsUntil(done);
    expect(steps.slice(2)).toEqual(['collect failure', 'collect success']);
    expect(visibleFailures()).toHaveLength(1);
    await workers.stop();
  });

  it('makes one record of a storage that does not answer, and polls less and less', async () => {
    repository.failNext('poll', new AppError('storage_unavailable'), Infinity);
    workers.start();
    for (let poll = 0; poll < 60; poll += 1) {
      await second();
    }
    const records = logs.visible.filter(({ fields }) => fields['worker'] === 'convert');
    expect(records.map(({ level, message }) => [level, message])).toEqual(
      Array(6).fill(['warn', 'poll failed']),
    );
    expect(records.map(({ fields }) => fields['pause_ms'])).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000,
    ]);
    expect(records[0]?.fields).toMatchObject({ code: 'storage_unavailable' });

    repository.healed('poll');
    await clock.advance(60_000);
    const done = reaches('done');
    await add();
    await secondsUntil(done);
    await workers.stop();
  });

  describe('at shutdown', () => {
    it('ends at once when there is nothing to do', async () => {
      workers.start();
      await settle();
      await workers.stop();
      expect(schedule.intervals.size).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    });

    it('lets a running step finish, and claims nothing more', async () => {
      const hold = new Hold();
      recognizer.onCollect(hold.behaviour());
      workers.start();
      const id = await add();
      await hold.entered;
      const stop = workers.stop();
      const late = await add();
      await clock.advance(GRACE - 1);
      expect(stateOf(id)).toBe('transcribe');
      hold.release();
      await stop;
      expect(stateOf(id)).toBe('done');
      expect(repository.entries.get(late)?.job).toMatchObject({ state: 'created', attempts: 0 });
      schedule.tickAll();
      await settle();
      expect(stateOf(late)).toBe('created');
      expect(clock.pendingTimers).toBe(0);
    });

    it('stops a step that takes too long, and gives its job back at no cost', async () => {
      const hold = new Hold();
      recognizer.onCollect(hold.behaviour());
      workers.start();
      const id = await add();
      await hold.entered;
      const stop = workers.stop();
      await clock.advance(GRACE);
      await stop;
      expect(recognizer.aborted).toBe(1);
      expect(repository.entries.get(id)).toMatchObject({
        claim: null,
        job: { state: 'transcribe', attempts: 0, error: null },
      });
      expect(visibleFailures()).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    });

    it('ends soon after the deadline even when the storage is gone', async () => {
      const hold = new Hold();
      recognizer.onCollect(hold.behaviour());
      workers.start();
      await add();
      await hold.entered;
      repository.failNext('release', new AppError('storage_unavailable'), Infinity);
      let stopped = false;
      void workers.stop().then(() => (stopped = true));
      await clock.advance(GRACE);
      expect(stopped).toBe(false);
      await clock.advance(1000);
      expect(stopped).toBe(true);
    });
  });
});
