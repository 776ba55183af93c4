import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sweepScratch } from './sweep-scratch';

describe('sweepScratch', () => {
  const now = Date.parse('2026-01-03T00:00:00Z');
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scratch-'));
    for (const [name, day] of [
      ['old', 1],
      ['young', 2],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'window.raw'), 'speech');
      const time = new Date(`2026-01-0${day}T12:00:00Z`);
      await utimes(join(folder, name), time, time);
    }
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('removes everything when nobody else works there', async () => {
    await sweepScratch(folder, true, now);
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves what may be in use by another process', async () => {
    await sweepScratch(folder, false, now);
    expect(await readdir(folder)).toEqual(['young']);
  });

  it('has nothing to do where there is no folder', async () => {
    await expect(sweepScratch(join(folder, 'none'), true, now)).resolves.toBeUndefined();
  });
});
