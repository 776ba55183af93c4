import { join } from 'node:path';
import { ensureBuild } from './setup/build.mjs';
import { ensureNodePackages } from './setup/node-packages.mjs';
import { ROOT } from './setup/paths.mjs';
import { run } from './setup/run.mjs';
import { main } from './setup/steps.mjs';
import { ensureSystemPackages, RUNTIME, whereIs } from './setup/system-packages.mjs';

const TIMEOUT_MS = 3_600_000;

await main(async () => {
  await ensureSystemPackages({ ...RUNTIME, flite: () => whereIs('flite') !== undefined });
  await ensureNodePackages();
  await ensureBuild();
  await run(process.execPath, [join(ROOT, 'bench', 'run.mjs'), ...process.argv.slice(2)], {
    timeoutMs: TIMEOUT_MS,
  });
});
