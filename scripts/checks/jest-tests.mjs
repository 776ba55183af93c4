import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from '../setup/paths.mjs';
import { run } from '../setup/run.mjs';
import { StepFailure } from '../setup/steps.mjs';
import { countsOf } from './test-counts.mjs';

const BOUND_MS = 1_800_000;

/**
 * Runs one of jest's projects.
 * @param add takes the counts, also of a run that fails.
 * @throws StepFailure when a test failed, jest failed, or no test ran.
 */
export async function runJest(project, { args, env, add }) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-jest-'));
  const report = join(folder, 'report.json');
  const jestArgs = ['--selectProjects', project, '--json', `--outputFile=${report}`, ...args];
  try {
    const { code } = await run(tool('jest'), jestArgs, { mayFail: true, env, timeoutMs: BOUND_MS });
    const counts = countsOf(await readReport(report));
    add(counts);
    if (counts.failed > 0 || code !== 0) {
      throw new StepFailure(`${project}: ${counts.failed} failed, jest exited ${code}`);
    }
    if (counts.passed === 0) {
      throw new StepFailure(`${project}: no test ran`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readReport(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    throw new StepFailure('jest ended without a report');
  }
}
