import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, tool } from '../setup/paths.mjs';
import { run } from '../setup/run.mjs';
import { main, say, StepFailure } from '../setup/steps.mjs';

/** OpenSpec is content with a folder that it finds no spec in; we count. */
await main(async () => {
  const specs = join(ROOT, 'openspec', 'specs');
  const entries = existsSync(specs) ? readdirSync(specs, { withFileTypes: true }) : [];
  const folders = entries.filter((entry) => entry.isDirectory());
  const args = ['validate', '--specs', '--strict', '--no-interactive', '--json'];
  const options = { quiet: true, mayFail: true, env: { OPENSPEC_TELEMETRY: '0' } };
  const { code, output } = await run(tool('openspec'), args, options);
  const { totals } = summaryOf(output);
  if (code !== 0 || totals.failed > 0) {
    throw new StepFailure(`${totals.failed} of ${totals.items} specs are not valid`, output);
  }
  if (folders.length === 0 || totals.items !== folders.length) {
    throw new StepFailure(
      `${totals.items} specs were validated, openspec/specs has ${folders.length}`,
    );
  }
  say(`${totals.passed} specs are valid`);
});

function summaryOf(output) {
  try {
    return JSON.parse(output.slice(output.indexOf('{'))).summary;
  } catch {
    throw new StepFailure('OpenSpec gave no readable answer', output);
  }
}
