import { once } from 'node:events';
import { ensureBuild } from '../setup/build.mjs';
import { interrupted } from '../setup/interrupt.mjs';
import { ensureNodePackages } from '../setup/node-packages.mjs';
import { say } from '../setup/steps.mjs';
import { ensureSystemPackages, RUNTIME } from '../setup/system-packages.mjs';
import { startService } from './service-process.mjs';
import { loadSettingsFile } from './settings-file.mjs';

/**
 * Sets up what is missing, starts the service, does `whenReady(url)`, and serves until Ctrl-C.
 * @param settings settings of the service for those that the person has not chosen
 * @returns the command's exit code: the service's own.
 */
export async function serve({ whenReady = async () => {}, settings = {} } = {}) {
  loadSettingsFile();
  process.env = { ...settings, ...process.env };
  await ensureSystemPackages(RUNTIME);
  await ensureNodePackages();
  await ensureBuild();
  const service = await startService();
  try {
    await whenReady(service.url);
    interrupted.throwIfAborted();
    printAddresses(service.url);
    await Promise.race([service.exited, once(interrupted, 'abort')]);
  } finally {
    await service.stop();
  }
  return (await service.exited) ?? 1;
}

function printAddresses(url) {
  say(`
  API         ${url}/v1/recordings
  Swagger UI  ${url}/docs
  metrics     ${url}/metrics
  health      ${url}/health/ready

  Serving until Ctrl-C.
`);
}
