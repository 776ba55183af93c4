import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StepFailure } from '../setup/steps.mjs';
import { whereIs } from '../setup/system-packages.mjs';

const DEBIAN = '/usr/lib/postgresql';
const OWNER = 'postgres';
const START_MS = 60_000;
const STOP_MS = 20_000;
const READY = 'database system is ready to accept connections';

/** Folder of the newest PostgreSQL server's programs on this machine; undefined without one. */
export function postgresPrograms() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const folders = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, 'bin'));
  const onPath = whereIs('initdb');
  return [...folders, ...(onPath ? [join(onPath, '..')] : [])].find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  );
}

/**
 * A PostgreSQL server of its own in a temp folder, on a free loopback port, with a random password. It keeps
 * fsync on: the tests are about what survives.
 * @returns `{ url, stop }`; `stop` ends it and removes the folder.
 */
export async function startPostgres() {
  const programs = postgresPrograms();
  const folder = await mkdtemp(join(tmpdir(), 'steward-postgres-'));
  let server;
  const stop = async () => {
    await end(server);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const identity = await ownerOf(folder);
    const options = { ...identity, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } };
    const password = randomBytes(16).toString('hex');
    await createCluster(programs, folder, password, options);
    const port = await freePort();
    server = spawn(join(programs, 'postgres'), serverArguments(folder, port), {
      ...options,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(server);
    return { url: `postgres://steward:${password}@127.0.0.1:${port}/postgres`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
async function ownerOf(folder) {
  if (process.getuid() !== 0) {
    return {};
  }
  const id = (flag) => Number(execFileSync('id', [flag, OWNER], { encoding: 'utf8' }));
  const identity = { uid: id('-u'), gid: id('-g') };
  await chown(folder, identity.uid, identity.gid);
  return identity;
}

async function createCluster(programs, folder, password, options) {
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  await mkdir(join(folder, 'socket'));
  if (options.uid !== undefined) {
    await chown(passwordFile, options.uid, options.gid);
    await chown(join(folder, 'socket'), options.uid, options.gid);
  }
  const choices = ['-U', 'steward', '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const args = ['-D', join(folder, 'data'), `--pwfile=${passwordFile}`, ...choices];
  try {
    execFileSync(join(programs, 'initdb'), args, { ...options, stdio: 'pipe', timeout: START_MS });
  } catch (error) {
    throw new StepFailure('PostgreSQL cannot make a cluster', String(error.stderr ?? error));
  }
}

const serverArguments = (folder, port) => [
  ...['-D', join(folder, 'data'), '-k', join(folder, 'socket'), '-h', '127.0.0.1', '-p', `${port}`],
  ...['-c', 'timezone=UTC'],
];

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Resolves at the server's own word that it is ready; its later output is read and dropped. */
function ready(server) {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (why) => reject(new StepFailure(`PostgreSQL ${why}`, said));
    const timer = setTimeout(() => fail('is not ready'), START_MS);
    server.once('error', (error) => fail(`cannot start: ${error.message}`));
    server.once('exit', () => fail('ended at once'));
    server.stderr.setEncoding('utf8').on('data', (chunk) => {
      said = (said + chunk).slice(-8192);
      if (said.includes(READY)) {
        clearTimeout(timer);
        resolve();
      }
    });
  });
}

async function end(server) {
  if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) {
    return; // not started, or gone
  }
  const gone = once(server, 'exit');
  server.kill('SIGINT'); // PostgreSQL's "fast": clients are cut off, files left whole
  const timer = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}
