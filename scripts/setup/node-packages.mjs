import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';
import { run } from './run.mjs';
import { ensureSqliteBinding } from './sqlite-binding.mjs';
import { StepFailure, step } from './steps.mjs';

/** Installs the packages of package-lock.json when node_modules holds anything else, and SQLite's binding. */
export async function ensureNodePackages() {
  refuseOldNode();
  if (!isInstalled()) {
    await step('npm packages', () => {
      // Foreign install scripts stay unrun; the one that is needed, SQLite's, has its own step.
      const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
      const [command, ...before] = npm();
      return run(command, [...before, ...args], { quiet: true, timeoutMs: 900_000 });
    });
  }
  await ensureSqliteBinding();
}

/** npm only warns of it, and what fails then says nothing of the cause. */
function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new StepFailure(`Node 20.19 or newer is needed, this is ${process.versions.node}`);
  }
}

/** The npm that runs this script, so that `npm test` needs no second one on PATH. */
function npm() {
  const cli = process.env.npm_execpath;
  return cli?.endsWith('npm-cli.js') ? [process.execPath, cli] : ['npm'];
}

/**
 * npm writes the list of what it installed into node_modules when it is done, and takes it away first: so an
 * interrupted install has none. Packages for other platforms are in package-lock.json only.
 */
function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const present = packagesOf('node_modules/.package-lock.json');
  if (wanted === undefined || present === undefined) {
    return false;
  }
  const same = ([path, { version, integrity, optional }]) =>
    path === '' ||
    (present[path] === undefined
      ? optional === true
      : present[path].version === version && present[path].integrity === integrity);
  return (
    Object.entries(wanted).every(same) &&
    Object.keys(present).every((path) => wanted[path] !== undefined)
  );
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(join(ROOT, lockFile), 'utf8')).packages;
  } catch {
    return undefined; // absent or broken: to be installed anew
  }
}
