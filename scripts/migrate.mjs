import { join } from 'node:path';
import { loadSettingsFile } from './service/settings-file.mjs';
import { ensureBuild } from './setup/build.mjs';
import { ensureNodePackages } from './setup/node-packages.mjs';
import { ROOT } from './setup/paths.mjs';
import { run } from './setup/run.mjs';
import { main } from './setup/steps.mjs';

const TIMEOUT_MS = 3_600_000;

await main(async () => {
  loadSettingsFile();
  await ensureNodePackages();
  await ensureBuild();
  await run(process.execPath, [join(ROOT, 'dist', 'migrate.js')], { timeoutMs: TIMEOUT_MS });
});
