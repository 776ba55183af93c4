import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { run } from './run.mjs';
import { say, StepFailure, step } from './steps.mjs';

const POCKETSPHINX_MODEL = '/usr/share/pocketsphinx/model/en-us/en-us';

/** Where a program is on PATH (or at its absolute path); undefined when it is not there. */
export function whereIs(program) {
  const folders = isAbsolute(program) ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
      } catch {
        return false;
      }
    });
}

const program = (name) => () => whereIs(name) !== undefined;
const setting = (key, name) => () => whereIs(process.env[key] || name) !== undefined;

/** Debian package -> is what we need of it there? Asked of the machine, not of dpkg: both kinds of install count. */
export const RUNTIME = {
  ffmpeg: () => setting('FFMPEG_PATH', 'ffmpeg')() && setting('FFPROBE_PATH', 'ffprobe')(),
  pocketsphinx: program('pocketsphinx_batch'),
  'pocketsphinx-en-us': () => existsSync(POCKETSPHINX_MODEL),
};

export const COMPILER = {
  python3: program('python3'),
  make: program('make'),
  'g++': program('g++'),
};

/**
 * Sees to it that the packages' programs are there: installs what is missing when root on Debian, else
 * names it with the command to run.
 * @throws StepFailure when something is missing and cannot be installed here.
 */
export async function ensureSystemPackages(packages) {
  const missing = () => Object.keys(packages).filter((name) => !packages[name]());
  const wanted = missing();
  if (wanted.length === 0) {
    return;
  }
  if (!isDebian()) {
    throw new StepFailure(
      `missing on this system: ${wanted.join(', ')} (Debian's package names). ` +
        'Install them with the system’s package manager, then run this command again.',
    );
  }
  if (process.getuid() !== 0) {
    throw new StepFailure(
      `missing system packages: ${wanted.join(', ')}. Install them, then run this command again:\n` +
        `  sudo apt-get update && sudo apt-get install --no-install-recommends ${wanted.join(' ')}`,
    );
  }
  await step(`system packages: ${wanted.join(', ')}`, () => aptInstall(wanted));
  const still = missing();
  if (still.length > 0) {
    throw new StepFailure(`installed, but what is needed of it is not there: ${still.join(', ')}`);
  }
}

export function isDebian() {
  try {
    const words = /^(ID|ID_LIKE)=(.*)$/gm;
    const release = readFileSync('/etc/os-release', 'utf8');
    return (
      [...release.matchAll(words)].some((match) => /\b(debian|ubuntu)\b/.test(match[2])) &&
      whereIs('apt-get') !== undefined
    );
  } catch {
    return false; // no os-release: not Debian
  }
}

async function aptInstall(names) {
  const env = {
    DEBIAN_FRONTEND: 'noninteractive',
    SYSTEMD_OFFLINE: '1', // a package that brings a service (PostgreSQL) shall not start it
  };
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=2'];
  const attempt = async () => {
    await run('apt-get', [...options, 'update'], { env, quiet: true, timeoutMs: 300_000 });
    const install = ['install', '-y', '--no-install-recommends', ...names];
    await run('apt-get', [...options, ...install], { env, quiet: true, timeoutMs: 900_000 });
  };
  try {
    await attempt();
  } catch (error) {
    say(`${error.message}; trying once more`);
    await attempt();
  }
}
