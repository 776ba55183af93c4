import { performance } from 'node:perf_hooks';
import { SystemClock } from './system-clock';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('SystemClock', () => {
  let clock: SystemClock;
  /** Milliseconds on the monotonic clock. */
  let passed: number;

  beforeEach(() => {
    jest.useFakeTimers({ now: Date.parse('2026-03-01T00:00:00Z') });
    // The module took its clock from Node itself, not from the global that jest replaces.
    passed = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => passed);
    clock = new SystemClock();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  /** Lets time pass on both clocks, a second at a time. */
  function pass(ms: number, step = 1000): void {
    for (let left = ms; left > 0; left -= step) {
      const piece = Math.min(step, left);
      passed += piece;
      jest.advanceTimersByTime(piece);
    }
  }

  it('fires once, after the delay and not before', () => {
    const fire = jest.fn();
    clock.after(5000, fire);
    pass(4999, 1);
    expect(fire).not.toHaveBeenCalled();
    pass(1);
    expect(fire).toHaveBeenCalledTimes(1);
    pass(HOUR);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  it('fires at once for a delay of nothing or less, but never within the call', () => {
    const fire = jest.fn();
    clock.after(0, fire);
    clock.after(-5, fire);
    expect(fire).not.toHaveBeenCalled();
    pass(1);
    expect(fire).toHaveBeenCalledTimes(2);
  });

  it('waits longer than a timer of Node can, which would fire at once', () => {
    const fire = jest.fn();
    clock.after(40 * DAY, fire);
    pass(40 * DAY - MINUTE, MINUTE);
    expect(fire).not.toHaveBeenCalled();
    pass(MINUTE);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  it('can be taken back, in every piece of a long wait and after it fired', () => {
    const fire = jest.fn();
    clock.after(5000, fire)();
    const cancel = clock.after(2 * HOUR, fire);
    pass(HOUR);
    cancel();
    pass(2 * HOUR);
    expect(fire).not.toHaveBeenCalled();
    const late = clock.after(1, fire);
    pass(1);
    late();
    expect(fire).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fires within half a minute after the machine slept through the due time', () => {
    const fire = jest.fn();
    clock.after(HOUR, fire);
    pass(MINUTE);
    jest.setSystemTime(Date.now() + 8 * HOUR); // timers and the monotonic clock stood still
    pass(30_000);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  it('does not wait longer because the wall clock was set back', () => {
    const fire = jest.fn();
    clock.after(HOUR, fire);
    pass(MINUTE);
    jest.setSystemTime(Date.now() - 8 * HOUR);
    pass(HOUR - MINUTE);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  it('sleeps until the time is over, or until the signal aborts', async () => {
    const woken: string[] = [];
    const cut = new AbortController();
    void clock.sleep(5000).then(() => woken.push('time'));
    void clock.sleep(HOUR, cut.signal).then(() => woken.push('signal'));
    void clock.sleep(HOUR, AbortSignal.abort()).then(() => woken.push('aborted before'));
    await Promise.resolve();
    expect(woken).toEqual(['aborted before']);
    pass(5000);
    cut.abort();
    await Promise.resolve();
    expect(woken).toEqual(['aborted before', 'time', 'signal']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('tells the time of the wall and of a clock that only runs on', () => {
    expect(clock.now()).toBe(Date.now());
    passed = 1234.5;
    expect(clock.monotonic()).toBe(1234.5);
  });
});
