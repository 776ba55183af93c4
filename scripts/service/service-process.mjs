import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { interrupted } from '../setup/interrupt.mjs';
import { ROOT } from '../setup/paths.mjs';
import { StepFailure } from '../setup/steps.mjs';

const READY_MS = 120_000;
const LAST_RESORT_MS = 5_000;
const READY_LINE = /listening on (https?:\/\/[^\s"]+)/;

/**
 * Starts the built service and passes its output on.
 * @returns once it accepts requests: `{ url, exited, stop }`; `exited` resolves with its exit code (null
 *   when a signal killed it), `stop` asks it to end, waits, and is safe to call more than once.
 * @throws StepFailure when the port is taken, or it ends or stays silent before it is ready.
 */
export async function startService() {
  await refuseTakenPort(process.env.HOST || '127.0.0.1', Number(process.env.PORT || 3000));
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: ROOT,
    detached: true, // a Ctrl-C reaches it as our one SIGTERM, not as a second signal from the terminal
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LOG_FORMAT: process.env.LOG_FORMAT || logFormat() },
  });
  const exited = new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const bound = Number(process.env.SHUTDOWN_TIMEOUT_MS || 10_000) + LAST_RESORT_MS;
    const timer = setTimeout(() => child.kill('SIGKILL'), bound);
    const code = await exited;
    clearTimeout(timer);
    return code;
  };
  child.stdout.pipe(process.stdout);
  try {
    return { url: await readyUrl(child, exited), exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Our pipe hides from the service that a person is looking. */
const logFormat = () => (process.stdout.isTTY ? 'pretty' : 'json');

function readyUrl(child, exited) {
  return new Promise((resolve, reject) => {
    const silent = () => reject(new StepFailure(`not ready after ${READY_MS / 1000} s`));
    const timer = setTimeout(silent, READY_MS);
    interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true });
    let text = '';
    const look = (chunk) => {
      text += chunk;
      const url = READY_LINE.exec(text)?.[1];
      if (url !== undefined) {
        child.stdout.off('data', look);
        clearTimeout(timer);
        resolve(url);
      }
    };
    child.stdout.on('data', look);
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new StepFailure(`the service ended before it was ready (exit code ${code})`));
    });
  });
}

/** The service says so too, but in a log record; a person who starts it twice should read a sentence. */
async function refuseTakenPort(host, port) {
  if (!Number.isInteger(port) || port > 65_535) {
    return; // a wrong setting is the service's to name
  }
  const server = createServer();
  const failure = await new Promise((resolve) => {
    server.once('error', resolve).listen(port, host, () => resolve(undefined));
  });
  if (failure?.code === 'EADDRINUSE') {
    const command = `npm run ${process.env.npm_lifecycle_event ?? 'start'}`;
    throw new StepFailure(
      `port ${port} is taken by another program. Stop it, or choose another: PORT=3001 ${command}`,
    );
  }
  await new Promise((resolve) => server.close(resolve));
}
