import { ensureBuild } from './setup/build.mjs';
import { ensureNodePackages } from './setup/node-packages.mjs';
import { main, say } from './setup/steps.mjs';

await main(async () => {
  await ensureNodePackages();
  await ensureBuild();
  say('dist/main.js is up to date');
});
