import { runJest } from './checks/jest-tests.mjs';
import { ensurePromtool } from './checks/promtool.mjs';
import { runScriptTests } from './checks/script-tests.mjs';
import { sum } from './checks/test-counts.mjs';
import { postgresPrograms, startPostgres } from './checks/throwaway-postgres.mjs';
import { ensureBuild } from './setup/build.mjs';
import { interrupted } from './setup/interrupt.mjs';
import { ensureNodePackages } from './setup/node-packages.mjs';
import { tool } from './setup/paths.mjs';
import { run } from './setup/run.mjs';
import { main, report, say, step } from './setup/steps.mjs';
import { ensureSystemPackages, RUNTIME, whereIs } from './setup/system-packages.mjs';

/**
 * `npm test`: set-up, then every check, each also after an earlier one failed. With the name of a jest project
 * (unit, integration, e2e) only that project; further words go to jest.
 */
const [only, ...jestArgs] = process.argv.slice(2);

const TEST_PACKAGES = {
  ...RUNTIME,
  flite: () => whereIs('flite') !== undefined,
  'espeak-ng': () => whereIs('espeak-ng') !== undefined,
  sox: () => whereIs('sox') !== undefined,
  procps: () => whereIs('pgrep') !== undefined, // tests look for processes left behind
  postgresql: () => postgresPrograms() !== undefined,
};

const STATIC_CHECKS = {
  format: ['prettier', '--check', '.'],
  lint: ['eslint', '.', '--max-warnings', '0'],
  types: ['tsc', '--noEmit', '-p', 'tsconfig.json'],
  'direction of dependencies': ['depcruise', 'src'],
};

const failures = [];
let counts = { passed: 0, failed: 0, skipped: 0 };
const add = (more) => {
  counts = sum(counts, more);
};

/** @returns whether it went well; only Ctrl-C ends the whole command at once. */
async function check(title, action) {
  try {
    await step(title, action);
    return true;
  } catch (error) {
    interrupted.throwIfAborted();
    report(error);
    failures.push(title);
    return false;
  }
}

async function staticChecks() {
  for (const [title, [name, ...args]] of Object.entries(STATIC_CHECKS)) {
    await check(title, () => run(tool(name), args));
  }
  await check('specifications', () => run(process.execPath, ['scripts/checks/spec-count.mjs']));
  await check('tests of the scripts', () => runScriptTests({ add }));
}

async function jestTests(projects) {
  const promtool = await ensurePromtool();
  const postgres = await step('PostgreSQL for the tests', startPostgres);
  const env = {
    STEWARD_TEST_POSTGRES_URL: postgres.url,
    ...(promtool === undefined ? {} : { STEWARD_PROMTOOL: promtool }),
  };
  try {
    for (const project of projects) {
      await check(`${project} tests`, () => runJest(project, { args: jestArgs, env, add }));
    }
  } finally {
    await postgres.stop();
  }
}

await main(async () => {
  await ensureSystemPackages(TEST_PACKAGES);
  await ensureNodePackages();
  if (only === undefined) {
    await staticChecks();
  }
  const built = await check('dist', ensureBuild);
  const wanted = only === undefined ? ['unit', 'integration', 'e2e'] : [only];
  // Of an older dist the e2e tests would tell nothing.
  await jestTests(built ? wanted : wanted.filter((project) => project !== 'e2e'));

  if (failures.length > 0) {
    say(`\nFAILED: ${failures.join(', ')}`);
  }
  say(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return failures.length > 0 ? 1 : 0;
});
