import { spawn } from 'node:child_process';
import type { Clock } from '../clock/clock';

/** More than any report of ours; a program that floods its output must not flood our memory. */
const LARGEST_OUTPUT = 1_048_576;

export interface ProgramRun {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Killed because it took longer than allowed. */
  readonly timedOut: boolean;
}

/**
 * Runs a program to its end, bounded in time and output, killed when `signal` aborts.
 * @throws the spawn error when the program cannot be started; the signal's reason when aborted
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  limits: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ProgramRun> {
  limits.signal.throwIfAborted();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let timedOut = false;
  const kill = (): void => {
    child.kill('SIGKILL');
    // A grandchild may hold the other end of the pipes; without them `close` only waits for the child.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const cancelTimer = limits.clock.after(limits.timeoutMs, () => {
    timedOut = true;
    kill();
  });
  limits.signal.addEventListener('abort', kill, { once: true });
  try {
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
      (resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code, killedBy) => resolve([code, killedBy]));
      },
    );
    limits.signal.throwIfAborted();
    return { exitCode, signal, stdout: stdout(), stderr: stderr(), timedOut };
  } finally {
    cancelTimer();
    limits.signal.removeEventListener('abort', kill);
  }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < LARGEST_OUTPUT) {
      chunks.push(chunk);
      size += chunk.length;
    }
  });
  return () => Buffer.concat(chunks).toString('utf8', 0, LARGEST_OUTPUT);
}
