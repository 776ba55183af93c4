import { backoffMs } from './backoff';

const settings = { baseMs: 5000, maxMs: 3_600_000 };

describe('backoffMs', () => {
  it('doubles with each attempt and leaves a quarter to chance', () => {
    expect(backoffMs(1, settings, 0)).toBe(5000);
    expect(backoffMs(1, settings, 0.999)).toBe(6249);
    expect(backoffMs(2, settings, 0)).toBe(10_000);
    expect(backoffMs(4, settings, 0)).toBe(40_000);
  });

  it('grows strictly up to the cap and never goes above it', () => {
    for (let attempt = 1; attempt < 40; attempt += 1) {
      expect(backoffMs(attempt, settings, 0.9999)).toBeLessThanOrEqual(settings.maxMs);
      if (attempt < 9) {
        expect(backoffMs(attempt + 1, settings, 0)).toBeGreaterThan(
          backoffMs(attempt, settings, 0.9999),
        );
      }
    }
  });

  it('Scenario: jobs that failed together do not return together: a hundred, also at the cap', () => {
    const perSecond = new Map<number, number>();
    for (let job = 0; job < 100; job += 1) {
      const second = Math.floor(backoffMs(30, settings, job / 100) / 1000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(20);
  });
});
