import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CACHE, ROOT, tool } from './paths.mjs';
import { run } from './run.mjs';
import { say, StepFailure, step } from './steps.mjs';
import { COMPILER, ensureSystemPackages } from './system-packages.mjs';

const PACKAGE = join(ROOT, 'node_modules', 'sqlite3');
const BINDING = join(PACKAGE, 'build', 'Release', 'node_sqlite3.node');
const DOWNLOAD_MS = 60_000;
const BUILD_MS = 900_000;

/**
 * Makes `require('sqlite3')` work: from this user's cache, else the maker's prebuilt file, else by compiling
 * (about a minute), which works on a machine that reaches nothing but a package registry.
 */
export async function ensureSqliteBinding() {
  if (await loads()) {
    return;
  }
  await step('SQLite binding', async () => {
    if (await fromCache()) {
      return say('taken from the cache of an earlier build');
    }
    if (await download()) {
      return say('downloaded');
    }
    say('no prebuilt file to be had: compiling, about a minute');
    await compile();
    if (!(await loads())) {
      throw new StepFailure('the SQLite binding was compiled, but Node cannot load it');
    }
    await intoCache();
  });
}

/** In a process of its own: a binding for another system may not only throw but crash. */
async function loads() {
  const script = "new (require('sqlite3').Database)(':memory:').close()";
  const { code } = await run(process.execPath, ['-e', script], { quiet: true, mayFail: true });
  return code === 0;
}

async function download() {
  const args = ['-r', 'napi'];
  try {
    const options = { cwd: PACKAGE, quiet: true, mayFail: true, timeoutMs: DOWNLOAD_MS };
    const { code } = await run(tool('prebuild-install'), args, options);
    return code === 0 && (await loads());
  } catch (error) {
    if (error instanceof StepFailure) {
      return false; // too slow
    }
    throw error;
  }
}

async function compile() {
  await ensureSystemPackages({ ...COMPILER, ...headersPackage() });
  const args = ['rebuild', '-j', 'max', `--nodedir=${headersPrefix()}`];
  await run(tool('node-gyp'), args, { cwd: PACKAGE, quiet: true, timeoutMs: BUILD_MS });
}

/** Node's own installs bring their headers; Debian's node has them in a package beside it. */
function headersPrefix() {
  const prefixes = [dirname(dirname(process.execPath)), '/usr'];
  return prefixes.find((prefix) =>
    ['node/node_api.h', 'node/common.gypi'].every((file) =>
      existsSync(join(prefix, 'include', file)),
    ),
  );
}

const headersPackage = () =>
  headersPrefix() === undefined ? { 'libnode-dev': () => headersPrefix() !== undefined } : {};

/** Where the same package's binding for the same kind of machine lies; Node-API makes Node's version no part of it. */
async function cachedFile() {
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
  const kind = `${process.platform}-${process.arch}-napi${process.versions.napi}`;
  return join(CACHE, `sqlite3-${version}-${kind}`, 'node_sqlite3.node');
}

const sha256 = async (path) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

async function fromCache() {
  const file = await cachedFile();
  try {
    if ((await readFile(`${file}.sha256`, 'utf8')) !== (await sha256(file))) {
      return false;
    }
    await mkdir(dirname(BINDING), { recursive: true });
    await copyFile(file, BINDING);
  } catch {
    return false; // never built here, or not readable
  }
  return (await loads()) || (await rm(BINDING), false);
}

async function intoCache() {
  const file = await cachedFile();
  try {
    await mkdir(dirname(file), { recursive: true });
    // Each by rename: another clone may be reading. A new file with an old sum is refused, and built anew.
    const half = `${file}.${randomUUID()}`;
    await copyFile(BINDING, half);
    await rename(half, file);
    await writeFile(half, await sha256(file));
    await rename(half, `${file}.sha256`);
  } catch (error) {
    say(`not cached for later: ${error.message}`); // a read-only home is no reason to stop
  }
}
