import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const POLL_MS = 10;
const PATIENCE_MS = 30_000;

/** Process ids of the children of this process that are alive. */
export async function childProcesses(): Promise<number[]> {
  const look = promisify(execFile)('pgrep', ['-P', String(process.pid)]);
  const { stdout } = await look.catch((error: { code?: unknown }) => {
    if (error.code !== 1) {
      throw error;
    }
    return { stdout: '' }; // its way of saying that there are none
  });
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(Number)
    .filter((pid) => pid !== look.child.pid);
}

/** Resolves with the ids of the children that are alive as soon as there is one. */
export async function childStarted(): Promise<number[]> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await childProcesses();
    if (found.length > 0) {
      return found;
    }
    if (performance.now() > deadline) {
      throw new Error('no child process was started');
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
