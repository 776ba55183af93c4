import { Readable } from 'node:stream';
import { FakeClock } from '../../../../test/fakes/fake-clock';
import { FakeLogFactory } from '../../../../test/fakes/fake-log';
import { facadeOver } from '../../../../test/fakes/test-facade';
import { InMemoryBlobStore } from '../../../../test/fakes/in-memory.blob-store';
import { InMemoryLeftoverJournal } from '../../../../test/fakes/in-memory.leftover-journal';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import { AppError } from '../../../common/errors/app-error';
import { DoubtfulRecordings } from './doubtful-recordings';
import { AcceptRecordingService, type OfferedRecording } from './accept-recording.service';

describe('AcceptRecordingService', () => {
  let blobs: InMemoryBlobStore;
  let repository: InMemoryJobRepository;
  let journal: InMemoryLeftoverJournal;
  let service: AcceptRecordingService;
  let doubts: DoubtfulRecordings;
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock();
    blobs = new InMemoryBlobStore(clock);
    repository = new InMemoryJobRepository(clock);
    journal = new InMemoryLeftoverJournal();
    const facade = facadeOver(repository, blobs, journal);
    doubts = new DoubtfulRecordings(facade, clock);
    service = new AcceptRecordingService(facade, doubts, new FakeLogFactory());
  });

  const offer = async (text: string, key: string | null = null): Promise<OfferedRecording> => ({
    staged: await blobs.stage(Readable.from([Buffer.from(text)])),
    source: 'http',
    sender: '',
    filename: 'a.wav',
    mediaType: 'audio/wav',
    language: null,
    prompt: null,
    idempotencyKey: key,
  });

  const stored = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key } of blobs.list('recordings/')) {
      keys.push(key);
    }
    return keys;
  };

  it('keeps the bytes under the key of its id', async () => {
    const { job, created } = await service.accept(await offer('sound'));
    expect(created).toBe(true);
    expect(await stored()).toEqual([`recordings/${job.id}/original`]);
    expect([...journal.notes]).toEqual([]);
  });

  it('removes the bytes when the row surely does not exist', async () => {
    jest.spyOn(repository, 'create').mockRejectedValueOnce(new AppError('storage_unavailable'));
    await expect(service.accept(await offer('sound'))).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    expect(await stored()).toEqual([]);
  });

  it('keeps the bytes when the row was committed but the answer was lost', async () => {
    const create = repository.create.bind(repository);
    jest.spyOn(repository, 'create').mockImplementationOnce(async (job) => {
      await create(job);
      throw new AppError('storage_unavailable');
    });
    await expect(service.accept(await offer('sound'))).rejects.toThrow();
    expect(await stored()).toHaveLength(1);
  });

  it('keeps the bytes while nobody can say whether there is a row', async () => {
    jest.spyOn(repository, 'create').mockRejectedValueOnce(new AppError('storage_unavailable'));
    jest.spyOn(repository, 'find').mockRejectedValueOnce(new AppError('storage_unavailable'));
    await expect(service.accept(await offer('sound'))).rejects.toThrow();
    expect([journal.notes.size, doubts.size]).toEqual([1, 1]);
    expect(await stored()).toHaveLength(1);
    jest.spyOn(repository, 'find').mockRejectedValueOnce(new AppError('storage_unavailable'));
    await clock.advance(60_000);
    expect(await stored()).toHaveLength(1); // still in doubt
    await clock.advance(60_000);
    expect([await stored(), journal.notes.size, doubts.size]).toEqual([[], 0, 0]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves neither bytes nor a note when they cannot be put under their key', async () => {
    const offered = await offer('sound');
    jest.spyOn(offered.staged, 'commit').mockRejectedValueOnce(new AppError('storage_full'));
    await expect(service.accept(offered)).rejects.toMatchObject({ code: 'storage_full' });
    expect([await stored(), journal.notes.size]).toEqual([[], 0]);
  });

  it('gives the first recording again for the same key, and keeps its bytes alone', async () => {
    const first = await service.accept(await offer('sound', 'k'));
    const second = await service.accept(await offer('sound', 'k'));
    expect([second.created, second.job.id]).toEqual([false, first.job.id]);
    await expect(service.accept(await offer('other', 'k'))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await stored()).toEqual([`recordings/${first.job.id}/original`]);
  });

  it('takes no file without bytes', async () => {
    await expect(service.accept(await offer(''))).rejects.toMatchObject({ code: 'empty_file' });
    expect(await stored()).toEqual([]);
  });
});
