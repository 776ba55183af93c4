import { FakeClock, settle } from '../../../test/fakes/fake-clock';
import { AppError } from '../../common/errors/app-error';
import { BoundedReading, READING_BOUND_MS } from './bounded-reading';

describe('BoundedReading', () => {
  const failure = 'engine_unavailable';

  it('answers what was read and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const reading = new BoundedReading({ clock, failure, read: async () => 7 });
    expect(await reading.get()).toBe(7);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps the meaning of a failure that has one and gives its own to any other', async () => {
    const clock = new FakeClock();
    const fails = (error: Error) =>
      new BoundedReading({ clock, failure, read: () => Promise.reject(error) }).get();
    await expect(fails(new AppError('model_missing'))).rejects.toMatchObject({
      code: 'model_missing',
    });
    await expect(fails(new Error('socket closed'))).rejects.toMatchObject({
      code: failure,
      cause: { message: 'socket closed' },
    });
  });

  it('gives up on a reading that hangs, does not double it, and uses its outcome later', async () => {
    const clock = new FakeClock();
    let calls = 0;
    let finish: (value: string) => void = () => undefined;
    const reading = new BoundedReading({
      clock,
      failure,
      freshMs: 1000,
      read: () => {
        calls += 1;
        return new Promise<string>((resolve) => {
          finish = resolve;
        });
      },
    });
    for (let probe = 1; probe <= 2; probe += 1) {
      const outcome = expect(reading.get()).rejects.toMatchObject({ code: failure });
      await clock.advance(READING_BOUND_MS);
      await outcome;
    }
    expect(calls).toBe(1);
    finish('late, but here');
    await settle();
    expect(await reading.get()).toBe('late, but here');
    expect(calls).toBe(1);
  });

  it('gives an outcome out again while it is fresh, a failure too', async () => {
    const clock = new FakeClock();
    const outcomes = [new AppError(failure), null];
    const reading = new BoundedReading({
      clock,
      failure,
      freshMs: 1000,
      read: async () => {
        const outcome = outcomes.shift();
        if (outcome instanceof AppError) {
          throw outcome;
        }
        return 'well';
      },
    });
    await expect(reading.get()).rejects.toMatchObject({ code: failure });
    await clock.advance(999);
    await expect(reading.get()).rejects.toMatchObject({ code: failure });
    await clock.advance(1);
    expect(await reading.get()).toBe('well');
    expect(outcomes).toEqual([]);
  });

  it('reads anew each time when nothing is to be kept', async () => {
    let calls = 0;
    const reading = new BoundedReading({
      clock: new FakeClock(),
      failure,
      read: async () => (calls += 1),
    });
    expect([await reading.get(), await reading.get()]).toEqual([1, 2]);
  });
});
