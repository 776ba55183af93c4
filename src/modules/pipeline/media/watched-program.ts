import { spawn, type ChildProcess } from 'node:child_process';
import type { CancelTimer, Clock } from '../../../common/clock/clock';

/** Of what a program says on stderr the end is kept: there it sums up or says why it gave up. */
const KEPT_STDERR = 32_768;
/** No line of ffmpeg's progress is nearly as long. */
const LONGEST_LINE = 1024;

export interface WatchLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly totalMs: number;
  /** Longest silence on stdout. */
  readonly stallMs: number;
}

export interface WatchedRun {
  readonly exitCode: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The last 32 768 characters. */
  readonly stderr: string;
  /** Killed because it took, or was silent, longer than allowed. */
  readonly timedOut: boolean;
}

/**
 * Runs a program that tells its progress line by line on stdout, and kills it when it is silent for too
 * long, takes too long, or `signal` aborts. What it prints cannot fill our memory.
 * @throws the spawn error when the program cannot be started; the signal's reason when aborted; what
 * `onLine` throws, the program being killed
 */
export async function watchProgram(
  program: string,
  args: readonly string[],
  limits: WatchLimits,
  onLine: (line: string) => void,
): Promise<WatchedRun> {
  const { clock, signal, totalMs, stallMs } = limits;
  signal.throwIfAborted();
  // Its streams are missing when the process is out of file descriptors; then `error` follows.
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killedBy) => resolve([code, killedBy]));
  });
  const kill = (): void => {
    child.kill('SIGKILL');
    // A grandchild that holds the pipes open must not keep us waiting.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  let timedOut = false;
  const expire = (): void => {
    timedOut = true;
    kill();
  };
  const cancelTotal = clock.after(totalMs, expire);
  let cancelStall: CancelTimer = clock.after(stallMs, expire);
  signal.addEventListener('abort', kill, { once: true });

  let fault: { readonly error: unknown } | undefined;
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    cancelStall();
    cancelStall = clock.after(stallMs, expire);
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    try {
      lines.forEach(onLine);
    } catch (error) {
      fault ??= { error };
      kill();
    }
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-KEPT_STDERR);
  });

  try {
    const [exitCode, killedBy] = await ended;
    signal.throwIfAborted();
    if (fault !== undefined) {
      throw fault.error;
    }
    return { exitCode, killedBy, stderr, timedOut };
  } finally {
    cancelTotal();
    cancelStall();
    signal.removeEventListener('abort', kill);
  }
}
