import { FakeClock, settle } from '../../../../test/fakes/fake-clock';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';
import { newJob, TestIds } from '../../../../test/fakes/test-jobs';
import { AppError } from '../../../common/errors/app-error';
import { PollId } from '../../../common/errors/noop';
import type { Claim } from '../domain/job';
import { ClaimKeeper } from './claim-keeper';

const TTL = 60_000;
const UNAVAILABLE = new AppError('storage_unavailable');

describe('ClaimKeeper', () => {
  const ids = new TestIds();
  let clock: FakeClock;
  let repository: InMemoryJobRepository;
  let claim: Claim;
  let lost: jest.Mock<void, []>;

  beforeEach(async () => {
    clock = new FakeClock();
    repository = new InMemoryJobRepository(clock);
    await repository.create(newJob(ids.next()));
    const answer = await repository.poll('created', new PollId('convert'), TTL, 5);
    if (answer.kind !== 'claimed') {
      throw new Error('expected a claim');
    }
    claim = answer.job.claim;
    repository.calls.length = 0;
    lost = jest.fn<void, []>();
  });

  const keeperWith = (ttlMs: number): ClaimKeeper => {
    const keeper = new ClaimKeeper(repository, clock, claim, ttlMs, lost);
    keeper.start();
    return keeper;
  };

  const expiresAt = (): number => repository.entries.get(claim.jobId)?.claim?.expiresAt ?? 0;
  const calls = (method: string): number =>
    repository.calls.filter((each) => each === method).length;

  it('looks once a second, and writes only when a third of the time is gone', async () => {
    const keeper = keeperWith(TTL);
    await clock.advance(19_000);
    expect(repository.calls).toEqual(Array(19).fill('holds'));
    await clock.advance(1000);
    expect(calls('renew')).toBe(1);
    expect(expiresAt()).toBe(clock.now() + TTL);
    await clock.advance(40_000);
    expect(calls('renew')).toBe(3);
    expect(lost).not.toHaveBeenCalled();
    await keeper.stop();
  });

  it('looks three times within a claim that is shorter than three seconds', async () => {
    const keeper = keeperWith(600);
    await clock.advance(600);
    expect(repository.calls).toEqual(['renew', 'renew', 'renew']);
    await keeper.stop();
  });

  it('saves progress that has moved by a hundredth, and the highest alone', async () => {
    const keeper = keeperWith(TTL);
    const progress = (): number | undefined => repository.entries.get(claim.jobId)?.job.progress;
    keeper.report(0.005);
    await clock.advance(1000);
    expect(progress()).toBe(0);
    keeper.report(0.3);
    keeper.report(0.2);
    await clock.advance(1000);
    expect(progress()).toBe(0.3);
    await clock.advance(5000);
    expect(calls('renew')).toBe(1);
    await keeper.stop();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['cancelled', () => repository.cancel(claim.jobId)],
    ['deleted', () => repository.delete(claim.jobId)],
  ])('tells once, at the next look, that the job was %s', async (_name, act) => {
    const keeper = keeperWith(TTL);
    await clock.advance(5000);
    await act();
    await clock.advance(1000);
    expect(lost).toHaveBeenCalledTimes(1);
    await clock.advance(5 * TTL);
    expect(lost).toHaveBeenCalledTimes(1);
    expect(clock.pendingTimers).toBe(0);
    await keeper.stop();
  });

  it('tells that somebody else has the job, also when it wanted to prolong', async () => {
    const keeper = keeperWith(600);
    await repository.release(claim, 0);
    await repository.poll('created', new PollId('another'), TTL, 5);
    await clock.advance(200);
    expect(calls('renew')).toBe(1);
    expect(lost).toHaveBeenCalledTimes(1);
    await keeper.stop();
  });

  it('bears missed beats while the claim lasts, and prolongs it when the storage is back', async () => {
    const keeper = keeperWith(TTL);
    repository.failNext('holds', UNAVAILABLE, Infinity);
    repository.failNext('renew', UNAVAILABLE, Infinity);
    await clock.advance(TTL - 1000);
    expect(lost).not.toHaveBeenCalled();
    repository.healed('renew');
    await clock.advance(1000);
    expect(expiresAt()).toBe(clock.now() + TTL);
    expect(lost).not.toHaveBeenCalled();
    await keeper.stop();
  });

  it('gives the claim up once it could not be prolonged for its whole time', async () => {
    const keeper = keeperWith(TTL);
    repository.failNext('holds', UNAVAILABLE, Infinity);
    repository.failNext('renew', UNAVAILABLE, Infinity);
    await clock.advance(TTL);
    expect(lost).not.toHaveBeenCalled();
    await clock.advance(1000);
    expect(lost).toHaveBeenCalledTimes(1);
    await keeper.stop();
  });

  it('never has two beats under way, however slow the storage is', async () => {
    let answer: (held: boolean) => void = () => undefined;
    const holds = jest
      .spyOn(repository, 'holds')
      .mockImplementation(() => new Promise((resolve) => (answer = resolve)));
    const keeper = keeperWith(TTL);
    await clock.advance(10_000);
    expect(holds).toHaveBeenCalledTimes(1);
    answer(true);
    await settle();
    await clock.advance(1000);
    expect(holds).toHaveBeenCalledTimes(2);
    answer(true);
    await keeper.stop();
  });

  it('stops after the beat under way, and is silent from then on', async () => {
    let answer: (held: boolean) => void = () => undefined;
    jest
      .spyOn(repository, 'holds')
      .mockImplementation(() => new Promise((resolve) => (answer = resolve)));
    const keeper = keeperWith(TTL);
    await clock.advance(1000);
    let stopped = false;
    const stop = keeper.stop().then(() => (stopped = true));
    await settle();
    expect(stopped).toBe(false);
    answer(true);
    await stop;
    await clock.advance(TTL);
    expect(clock.pendingTimers).toBe(0);
    expect(lost).not.toHaveBeenCalled();
  });
});
