import { text } from 'node:stream/consumers';
import { FakeClock } from '../../../../test/fakes/fake-clock';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import { FakeLogFactory } from '../../../../test/fakes/fake-log';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { InMemoryLeftoverJournal } from '../../../../test/fakes/in-memory.leftover-journal';
import { newJob, TestIds } from '../../../../test/fakes/test-jobs';
import { PollId } from '../../../common/errors/noop';
import { blobKeys, type ClaimedJob, type Job } from '../domain/job';
import { JOB_STATES, TRANSITIONS, type JobState } from '../domain/job-state';
import type { Transcript } from '../domain/transcript';
import { PipelineEvents } from '../pipeline.events';
import { PipelineFacade } from './pipeline.facade';
import { RunningSteps } from './running-steps';

const TRANSCRIPT: Transcript = {
  recording_id: 'id',
  text: 'turn on the lights',
  language: 'en',
  duration_s: 2,
  engine: 'pocketsphinx',
  model: 'en-us',
  segments: [],
  warnings: [],
};

describe('PipelineFacade', () => {
  const ids = new TestIds();
  let repository: InMemoryJobRepository;
  let blobs: InMemoryBlobStore;
  let running: RunningSteps;
  let facade: PipelineFacade;
  let told: [string, string, string][];

  beforeEach(() => {
    const clock = new FakeClock();
    repository = new InMemoryJobRepository(clock);
    blobs = new InMemoryBlobStore(clock);
    running = new RunningSteps();
    const events = new PipelineEvents();
    told = [];
    for (const name of ['changed', 'deleted'] as const) {
      events.on(name, (job) => told.push([name, job.id, job.state]));
    }
    facade = new PipelineFacade(
      repository,
      blobs,
      running,
      events,
      new InMemoryLeftoverJournal(),
      new FakeLogFactory(),
    );
  });

  afterEach(() => blobs.dispose());

  async function add(): Promise<Job> {
    const { job } = await repository.create(newJob(ids.next()));
    blobs.put(blobKeys.original(job.id), 'the original');
    return job;
  }

  async function claim(): Promise<ClaimedJob> {
    const answer = await repository.poll('created', new PollId('convert'), 60_000, 5);
    return (answer as { job: ClaimedJob }).job;
  }

  /** A job put into `state` behind the queue's back. */
  async function jobIn(state: JobState): Promise<Job> {
    const { id } = await add();
    const entry = repository.entries.get(id);
    if (entry === undefined) {
      throw new Error('no such job');
    }
    const error = ['failed', 'dead'].includes(state)
      ? { code: 'not_media' as const, detail: 'a text' }
      : null;
    const speechKey = state === 'created' ? null : `recordings/${id}/speech-1.wav`;
    entry.job = { ...entry.job, state, error, speechKey };
    if (speechKey !== null) {
      blobs.put(speechKey);
    }
    if (state === 'done') {
      repository.transcripts.set(id, TRANSCRIPT);
    }
    return entry.job;
  }

  it('tells of a new job, and says nothing when it was there already', async () => {
    const first = newJob(ids.next(), { idempotencyKey: 'k' });
    expect(await facade.create(first)).toMatchObject({ created: true });
    const again = await facade.create(newJob(ids.next(), { idempotencyKey: 'k' }));
    expect(again).toMatchObject({ created: false, job: { id: first.id } });
    expect(told).toEqual([['changed', first.id, 'created']]);
  });

  it('knows a job by its id alone', async () => {
    const job = await add();
    expect(await facade.get(job.id)).toEqual(job);
    await expect(facade.get(ids.next())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('pages without a last empty page', async () => {
    const all = [await add(), await add(), await add(), await add()].map(({ id }) => id).reverse();
    const first = await facade.list({}, 2, null);
    expect(first.jobs.map(({ id }) => id)).toEqual(all.slice(0, 2));
    expect(first.next).toBe(all[1]);
    const second = await facade.list({}, 2, first.next);
    expect(second.jobs.map(({ id }) => id)).toEqual(all.slice(2));
    expect(second.next).toBeNull();
    expect(await facade.list({ state: 'done' }, 2, null)).toEqual({ jobs: [], next: null });
  });

  describe('transcript', () => {
    it('is there when the job is done', async () => {
      const { id } = await jobIn('done');
      expect(await facade.transcript(id)).toEqual(TRANSCRIPT);
    });

    it.each(['created', 'converted', 'transcribe'] as const)(
      'is not ready in %s, and the state is named',
      async (state) => {
        const { id } = await jobIn(state);
        await expect(facade.transcript(id)).rejects.toMatchObject({
          code: 'not_ready',
          detail: expect.stringContaining(state),
        });
      },
    );

    it.each([
      ['failed', 'not_media'],
      ['dead', 'not_media'],
      ['cancelled', 'cancelled'],
    ] as const)('will never be in %s, and the reason is named', async (state, reason) => {
      const { id } = await jobIn(state);
      await expect(facade.transcript(id)).rejects.toMatchObject({
        code: 'no_transcript',
        detail: expect.stringContaining(reason),
      });
    });

    it('is no longer kept once its text is gone', async () => {
      const { id } = await jobIn('done');
      repository.transcripts.clear();
      await expect(facade.transcript(id)).rejects.toMatchObject({ code: 'no_transcript' });
    });

    it('of nothing is not found', async () => {
      await expect(facade.transcript(ids.next())).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe('audio', () => {
    it('is read whole or in part', async () => {
      const job = await add();
      expect(await facade.audioSize(job.id)).toEqual({ job, sizeBytes: 12 });
      expect(await text(await facade.readAudio(job.id))).toBe('the original');
      expect(await text(await facade.readAudio(job.id, { start: 4, end: 7 }))).toBe('orig');
    });

    it('has expired when the row outlives it', async () => {
      const job = await add();
      await blobs.delete(blobKeys.original(job.id));
      await expect(facade.audioSize(job.id)).rejects.toMatchObject({ code: 'audio_expired' });
      await expect(facade.audioSize(ids.next())).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe.each(['cancel', 'retry'] as const)('%s', (move) => {
    it.each(JOB_STATES)('from %s', async (state) => {
      const { id } = await jobIn(state);
      const next = TRANSITIONS[state][move];
      if (next === undefined) {
        await expect(facade[move](id)).rejects.toMatchObject({
          code: move === 'cancel' ? 'not_cancellable' : 'not_retryable',
          detail: expect.stringContaining(state),
        });
        expect(told).toEqual([]);
      } else {
        expect((await facade[move](id)).state).toBe(next);
        expect(told).toEqual([['changed', id, next]]);
      }
    });

    it('of nothing is not found', async () => {
      await expect(facade[move](ids.next())).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  it('stops the running step of what is called off, and no other', async () => {
    const [first, second] = [await add(), await add()];
    const [one, two] = [running.enter(first.id), running.enter(second.id)];
    await facade.cancel(first.id);
    expect(one.signal.reason).toMatchObject({ reason: 'cancelled' });
    expect(two.signal.aborted).toBe(false);
    await facade.delete(second.id);
    expect(two.signal.reason).toMatchObject({ reason: 'deleted' });
  });

  it('leaves a running step alone when there is nothing to call off', async () => {
    const { id } = await jobIn('done');
    const entry = running.enter(id);
    await expect(facade.cancel(id)).rejects.toMatchObject({ code: 'not_cancellable' });
    expect(entry.signal.aborted).toBe(false);
  });

  describe('delete', () => {
    it.each(JOB_STATES)('removes row, text and audio in %s', async (state) => {
      const { id } = await jobIn(state);
      await facade.delete(id);
      expect(repository.entries.size).toBe(0);
      expect(repository.transcripts.size).toBe(0);
      expect(blobs.keys).toEqual([]);
      expect(told).toEqual([['deleted', id, state]]);
      await expect(facade.delete(id)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('removes the row first, so that no row is left without its audio', async () => {
      const { id } = await add();
      blobs.break('delete');
      await expect(facade.delete(id)).rejects.toMatchObject({ code: 'storage_unavailable' });
      expect(repository.entries.size).toBe(0);
      expect(told).toEqual([['deleted', id, 'created']]);
    });

    it('also works while the job is claimed', async () => {
      await add();
      const held = await claim();
      await facade.delete(held.id);
      expect(await repository.holds(held.claim)).toBe(false);
    });
  });
});
