import { FakeClock } from '../../../../test/fakes/fake-clock';
import { loadConfig } from '../../../common/config/app-config';
import { AppError } from '../../../common/errors/app-error';
import { healthParts, type HealthPartsSources } from './health-parts';
import type { PartName } from './readiness';

describe('healthParts', () => {
  const well: Omit<HealthPartsSources, 'clock' | 'config'> = {
    repository: { check: async () => undefined },
    blobs: { check: async () => undefined, freeBytes: async () => 1000 },
    converter: { check: async () => undefined },
    recognizer: { check: async () => undefined },
  };

  const parts = (
    environment: Record<string, string>,
    changed: Partial<HealthPartsSources> = {},
    clock = new FakeClock(),
  ) => {
    const config = loadConfig({ STORAGE_MIN_FREE_BYTES: '1000', ...environment }, false);
    const made = healthParts({ ...well, clock, config, ...changed });
    return {
      names: made.map(({ name }) => name),
      ask: (name: PartName) => made.find((part) => part.name === name)?.reading.get(),
    };
  };

  it('asks for converter and engine only where recordings are transcribed', () => {
    expect(parts({ ROLES: 'api' }).names).toEqual(['database', 'storage']);
    expect(parts({ ROLES: 'api,pipeline' }).names).toEqual([
      'database',
      'storage',
      'converter',
      'engine',
    ]);
  });

  it('is content with exactly the least free space, and not with a byte less', async () => {
    const withFree = (free: number | null) =>
      parts(
        { ROLES: 'api' },
        { blobs: { ...well.blobs, freeBytes: () => Promise.resolve(free) } },
      ).ask('storage');
    await withFree(1000);
    await withFree(null);
    await expect(withFree(999)).rejects.toMatchObject({ code: 'storage_full' });
  });

  it('is not content with space alone: the storage has to take bytes', async () => {
    const check = () => Promise.reject(new AppError('storage_unavailable'));
    await expect(
      parts({ ROLES: 'api' }, { blobs: { ...well.blobs, check } }).ask('storage'),
    ).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  it('does not start children for each probe', async () => {
    const clock = new FakeClock();
    let started = 0;
    const check = async () => {
      started += 1;
    };
    const { ask } = parts(
      { ROLES: 'pipeline' },
      { converter: { check }, recognizer: { check } },
      clock,
    );
    for (let probe = 1; probe <= 3; probe += 1) {
      await ask('converter');
      await ask('engine');
      await clock.advance(9000);
    }
    expect(started).toBe(2);
    await clock.advance(9000);
    await ask('converter');
    expect(started).toBe(3);
  });
});
