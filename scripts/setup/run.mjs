import { spawn } from 'node:child_process';
import { interrupted } from './interrupt.mjs';
import { ROOT } from './paths.mjs';
import { StepFailure } from './steps.mjs';

const KEPT_CHARACTERS = 64 * 1024;
const GRACE_MS = 5000;

/**
 * Runs one program to its end, in a process group of its own, so that nothing it started outlives it.
 * `signal` ends it early; the signal's reason is then what went wrong. `quiet` keeps the output (its last
 * 64 KB) and shows it only when the program fails.
 * @returns `{ code, output }`; `output` is empty unless `quiet`. With `mayFail` any exit code is returned.
 * @throws StepFailure when it cannot be started, fails, lasts longer than `timeoutMs`, or on Ctrl-C.
 */
export async function run(command, args, options = {}) {
  const {
    timeoutMs = 600_000,
    quiet = false,
    mayFail = false,
    env = {},
    cwd = ROOT,
    signal,
  } = options;
  interrupted.throwIfAborted();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  });
  let output = '';
  const keep = (chunk) => {
    output = (output + chunk).slice(-KEPT_CHARACTERS);
  };
  child.stdout?.setEncoding('utf8').on('data', keep);
  child.stderr?.setEncoding('utf8').on('data', keep);

  const ended = await new Promise((resolve) => {
    let reason = null;
    let lastResort;
    const end = (why) => {
      reason ??= why;
      killGroup(child, 'SIGTERM'); // a package manager may want to leave its files whole
      lastResort ??= setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS);
    };
    const timer = setTimeout(() => end(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
    const stop = () => end('was interrupted');
    interrupted.addEventListener('abort', stop, { once: true });
    signal?.addEventListener('abort', () => end(signal.reason), { once: true });
    const settle = (result) => {
      clearTimeout(timer);
      clearTimeout(lastResort);
      interrupted.removeEventListener('abort', stop);
      killGroup(child, 'SIGKILL'); // what it left running
      resolve({ reason, ...result });
    };
    child.once('error', (error) => settle({ code: null, reason: error.message }));
    child.once('close', (code, signal) => settle({ code, signal }));
  });

  interrupted.throwIfAborted();
  if (ended.reason === null && (ended.code === 0 || (mayFail && ended.code !== null))) {
    return { code: ended.code, output };
  }
  const how = ended.reason ?? (ended.signal ? `died of ${ended.signal}` : `exited ${ended.code}`);
  throw new StepFailure(`${[command, ...args].join(' ')}: ${how}`, output);
}

function killGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal); // never started, or gone already
  }
}
