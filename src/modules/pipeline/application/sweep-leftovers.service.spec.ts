import { FakeClock } from '../../../../test/fakes/fake-clock';
import { FakeLogFactory } from '../../../../test/fakes/fake-log';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { InMemoryLeftoverJournal } from '../../../../test/fakes/in-memory.leftover-journal';
import { newJob, TestIds } from '../../../../test/fakes/test-jobs';
import { blobKeys, type Job } from '../domain/job';
import { PipelineEvents } from '../pipeline.events';
import { SweepLeftoversService } from './sweep-leftovers.service';

const DAY = 24 * 3_600_000;
const ALONE = { aloneOnFolder: true, aloneOnStore: true };
const OTHERS = { aloneOnFolder: false, aloneOnStore: false };

describe('SweepLeftoversService', () => {
  const ids = new TestIds();
  let clock: FakeClock;
  let repository: InMemoryJobRepository;
  let blobs: InMemoryBlobStore;
  let journal: InMemoryLeftoverJournal;
  let logs: FakeLogFactory;
  let swept: { reason: string; count: number }[];
  let sweeper: SweepLeftoversService;

  beforeEach(() => {
    clock = new FakeClock();
    repository = new InMemoryJobRepository(clock);
    blobs = new InMemoryBlobStore(clock);
    journal = new InMemoryLeftoverJournal();
    logs = new FakeLogFactory();
    swept = [];
    const events = new PipelineEvents();
    events.on('swept', (files) => swept.push(files));
    sweeper = new SweepLeftoversService(blobs, journal, repository, clock, events, logs);
  });

  afterEach(() => blobs.dispose());

  async function add(change: Partial<Job> = {}): Promise<string> {
    const { job } = await repository.create(newJob(ids.next()));
    const entry = repository.entries.get(job.id);
    if (entry !== undefined) {
      entry.job = { ...job, ...change };
    }
    return job.id;
  }

  const speech = (id: string, token: string): string => `recordings/${id}/speech-${token}.wav`;

  it('Scenario: leftovers of a crash are removed at the start, and no others', async () => {
    const waiting = await add();
    const converted = await add();
    const entry = repository.entries.get(converted);
    if (entry !== undefined) {
      entry.job = { ...entry.job, state: 'converted', speechKey: speech(converted, 'now') };
    }
    const done = await add({ state: 'done', speechKey: null });
    const orphan = ids.next();
    const kept = [
      blobKeys.original(waiting),
      blobKeys.original(converted),
      speech(converted, 'now'),
      blobKeys.original(done),
    ];
    const gone = [
      blobKeys.original(orphan),
      speech(orphan, 'x'),
      speech(converted, 'before'),
      `recordings/${waiting}/something-else`,
    ];
    for (const key of [...kept, ...gone]) {
      blobs.put(key);
    }
    await journal.note(orphan); // was being accepted or deleted
    await journal.note(done); // its row was committed, only the note was not taken back
    await sweeper.sweep(ALONE);
    expect(blobs.keys).toEqual([...kept].sort());
    expect(swept).toEqual([
      { reason: 'staging', count: 0 },
      { reason: 'orphan', count: 4 },
    ]);
    expect([...journal.notes]).toEqual([]);
  });

  it('Scenario: audio that merely has no row is kept and reported', async () => {
    const [lost, other] = [ids.next(), ids.next()];
    blobs.put(blobKeys.original(lost), 'x', 0);
    blobs.put(blobKeys.original(other), 'x', 0);
    await sweeper.sweep(ALONE);
    expect(blobs.keys).toHaveLength(2);
    expect(swept[1]).toEqual({ reason: 'orphan', count: 0 });
    expect(logs.visible).toEqual([
      expect.objectContaining({ level: 'warn', fields: { files: 2 } }),
    ]);
  });

  it('looks at old notes also while another process uses the folder', async () => {
    const id = '01940000-0000-7000-8000-000000000000'; // made a year before the clock's day
    blobs.put(blobKeys.original(id));
    await journal.note(id);
    await sweeper.sweep(OTHERS);
    expect([blobs.keys, [...journal.notes]]).toEqual([[], []]);
  });

  it('leaves notes alone while another process uses the folder', async () => {
    const time = clock.now().toString(16).padStart(12, '0');
    const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
    blobs.put(blobKeys.original(id));
    await journal.note(id);
    await sweeper.sweep(OTHERS);
    expect([blobs.keys, [...journal.notes]]).toEqual([[blobKeys.original(id)], [id]]);
  });

  it.each(['done', 'failed', 'dead', 'cancelled'] as const)(
    'removes converted audio that a job in %s no longer needs',
    async (state) => {
      const id = await add({ state, speechKey: speech(ids.next(), 'x') });
      const key = repository.entries.get(id)?.job.speechKey ?? '';
      blobs.put(key);
      blobs.put(blobKeys.original(id));
      await sweeper.sweep(ALONE);
      expect(blobs.keys).toEqual([blobKeys.original(id)]);
    },
  );

  it('Scenario: young files are left alone while others may be writing', async () => {
    const [young, old] = [ids.next(), ids.next()];
    blobs.put(speech(young, 'x'), 'x', clock.now() - DAY);
    blobs.put(speech(old, 'x'), 'x', clock.now() - DAY - 1);
    await sweeper.sweep(OTHERS);
    expect(blobs.keys).toEqual([speech(young, 'x')]);
    await sweeper.sweep(ALONE);
    expect(blobs.keys).toEqual([]);
    expect(blobs.sweeps).toEqual([false, true]);
  });

  it('never removes the audio of a row, however old', async () => {
    const id = await add();
    blobs.put(blobKeys.original(id), 'x', 0);
    await sweeper.sweep(OTHERS);
    expect(blobs.keys).toEqual([blobKeys.original(id)]);
  });

  it('goes through more files than fit into one question', async () => {
    const kept: string[] = [];
    for (let count = 0; count < 450; count += 1) {
      if (count % 3 === 0) {
        kept.push(blobKeys.original(await add()));
        blobs.put(kept.at(-1) ?? '');
      } else {
        blobs.put(speech(ids.next(), 'x'));
      }
    }
    await sweeper.sweep(ALONE);
    expect(blobs.keys).toEqual(kept);
    expect(swept[1]).toEqual({ reason: 'orphan', count: 300 });
  });

  it('says what it removed, and nothing when there was nothing', async () => {
    await sweeper.sweep(ALONE);
    expect(logs.visible).toEqual([]);
    blobs.leftInStaging = 2;
    blobs.put(speech(ids.next(), 'x'));
    await sweeper.sweep(ALONE);
    expect(logs.visible).toEqual([
      expect.objectContaining({ level: 'info', fields: { staging: 2, orphans: 1 } }),
    ]);
  });

  it('leaves files of others than recordings alone', async () => {
    blobs.put('models/en-us/model.json', 'x', 0);
    await sweeper.sweep(ALONE);
    expect(blobs.keys).toEqual(['models/en-us/model.json']);
  });

  it('removes nothing when the rows cannot be asked', async () => {
    blobs.put(speech(ids.next(), 'x'));
    repository.failNext('existing', new Error('disk'));
    await expect(sweeper.sweep(ALONE)).rejects.toThrow('disk');
    expect(blobs.keys).toHaveLength(1);
  });
});
