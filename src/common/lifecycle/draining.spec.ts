import { FakeClock, settle } from '../../../test/fakes/fake-clock';
import { Draining } from './draining';

const never = new Promise<never>(() => undefined);

describe('Draining', () => {
  it('has not begun until it is told to', () => {
    const draining = new Draining(new FakeClock(), 10_000);
    expect(draining.begun).toBe(false);
    draining.begin();
    expect(draining.begun).toBe(true);
  });

  it('waits for work that ends in time, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const draining = new Draining(clock, 10_000);
    expect(await draining.waitFor(Promise.resolve())).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts work that failed as finished', async () => {
    const draining = new Draining(new FakeClock(), 10_000);
    expect(await draining.waitFor(Promise.reject(new Error('disk')))).toBe(true);
  });

  it('gives up on work at the deadline', async () => {
    const clock = new FakeClock();
    const draining = new Draining(clock, 10_000);
    let finished: boolean | undefined;
    void draining.waitFor(never).then((value) => (finished = value));
    await clock.advance(9999);
    expect(finished).toBeUndefined();
    await clock.advance(1);
    expect(finished).toBe(false);
  });

  it('has one deadline for all, counted from its beginning', async () => {
    const clock = new FakeClock();
    const draining = new Draining(clock, 10_000);
    draining.begin();
    await clock.advance(6000);
    draining.begin(); // a second signal moves nothing
    const answers: boolean[] = [];
    void draining.waitFor(never).then((value) => answers.push(value));
    void draining.waitFor(never).then((value) => answers.push(value));
    await clock.advance(4000);
    expect(answers).toEqual([false, false]);
    void draining.waitFor(never).then((value) => answers.push(value));
    await clock.advance(0);
    expect(answers).toEqual([false, false, false]);
  });

  it('still sees work that is done already when the deadline is over', async () => {
    const clock = new FakeClock();
    const draining = new Draining(clock, 10_000);
    draining.begin();
    await clock.advance(20_000);
    const answer = draining.waitFor(Promise.resolve());
    await settle();
    expect(await answer).toBe(true);
  });
});
