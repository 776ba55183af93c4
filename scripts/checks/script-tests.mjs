import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../setup/paths.mjs';
import { run } from '../setup/run.mjs';
import { say, StepFailure } from '../setup/steps.mjs';
import { countsOfTap } from './test-counts.mjs';

/** Runs the tests of these scripts themselves, which need no package. Like runJest. */
export async function runScriptTests({ add }) {
  const files = readdirSync(join(ROOT, 'scripts'), { recursive: true })
    .filter((name) => name.endsWith('.test.mjs'))
    .map((name) => join('scripts', name));
  const args = ['--test', '--test-reporter=tap', ...files];
  const { code, output } = await run(process.execPath, args, { quiet: true, mayFail: true });
  const counts = countsOfTap(output) ?? { passed: 0, failed: 1, skipped: 0 };
  add(counts);
  if (code !== 0 || counts.failed > 0 || counts.passed === 0) {
    throw new StepFailure(`${counts.failed} tests of the scripts failed`, output);
  }
  say(`${counts.passed} tests of the scripts are fine`);
}
