import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CACHE } from '../setup/paths.mjs';
import { run } from '../setup/run.mjs';
import { say, StepFailure, step } from '../setup/steps.mjs';
import { isDebian, whereIs } from '../setup/system-packages.mjs';

const KEPT = join(CACHE, 'promtool');

/**
 * Prometheus' checker of metrics and alerts: the one on PATH, else taken out of Debian's package without
 * installing it, which would start a Prometheus.
 * @returns its path; undefined, said aloud, when it cannot be had: the tests then leave its checks out.
 */
export async function ensurePromtool() {
  const present = whereIs('promtool') ?? whereIs(KEPT);
  if (present !== undefined) {
    return present;
  }
  try {
    return await step('promtool', unpack);
  } catch (error) {
    if (!(error instanceof StepFailure)) {
      throw error;
    }
    say('NOTE: no promtool on this machine, and none to be had: its checks will be skipped');
    return undefined;
  }
}

async function unpack() {
  if (!isDebian()) {
    throw new StepFailure('only Debian’s package is known');
  }
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'unpack-'));
  const options = { cwd: folder, quiet: true, timeoutMs: 300_000 };
  try {
    await run('apt-get', ['-q', 'download', 'prometheus'], options);
    const [archive] = await readdir(folder);
    await run('dpkg-deb', ['-x', archive, '.'], options);
    await rename(join(folder, 'usr', 'bin', 'promtool'), KEPT);
    return KEPT;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
