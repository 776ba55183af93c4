import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from '../setup/paths.mjs';
import { run } from '../setup/run.mjs';
import { StepFailure } from '../setup/steps.mjs';
import { countsOf } from './test-counts.mjs';

const BOUND_MS = 1_800_000;
const GRACE_MS = 30_000;

/**
 * Runs one of jest's projects.
 * @param add takes the counts, also of a run that fails.
 * @throws StepFailure when a test failed, jest failed, or no test ran.
 */
export async function runJest(project, { args, env, add }) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-jest-'));
  const report = join(folder, 'report.json');
  const jestArgs = ['--selectProjects', project, '--json', `--outputFile=${report}`, ...args];
  const watch = watchForHang(report);
  try {
    const options = { mayFail: true, env, timeoutMs: BOUND_MS, signal: watch.signal };
    const ended = await run(tool('jest'), jestArgs, options).catch((error) => error);
    const counts = countsOf(await readReport(report, ended));
    add(counts);
    if (ended instanceof Error) {
      throw ended;
    }
    if (counts.failed > 0 || ended.code !== 0) {
      throw new StepFailure(`${project}: ${counts.failed} failed, jest exited ${ended.code}`);
    }
    if (counts.passed === 0) {
      throw new StepFailure(`${project}: no test ran`);
    }
  } finally {
    watch.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** jest waits without end for what a test left open; its report is written by then. */
function watchForHang(report) {
  const controller = new AbortController();
  let grace;
  const look = setInterval(() => {
    if (grace === undefined && existsSync(report)) {
      const why = `did not end within ${GRACE_MS / 1000} s of its report: a test left something open`;
      grace = setTimeout(() => controller.abort(why), GRACE_MS);
    }
  }, 500);
  const stop = () => {
    clearInterval(look);
    clearTimeout(grace);
  };
  return { signal: controller.signal, stop };
}

async function readReport(file, ended) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    throw ended instanceof Error ? ended : new StepFailure('jest ended without a report');
  }
}
