import { spawn, type ChildProcess } from 'node:child_process';
import type { CancelTimer, Clock } from '../clock/clock';
import { dyingWithParent, startFailure } from './parent-death';

/** Of what a program says on stderr the end is kept: there it sums up or says why it gave up. */
const KEPT_STDERR = 32_768;

export interface Supervision {
  readonly clock: Clock;
  /** The program is killed when it aborts. */
  readonly signal: AbortSignal;
  /** Longest run, milliseconds. */
  readonly totalMs: number;
  /** Longest silence on stdout, milliseconds; without it silence is allowed. */
  readonly stallMs?: number;
}

export interface SupervisedRun {
  readonly exitCode: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** The last 32 768 characters. */
  readonly stderr: string;
  /** Killed because it took, or was silent, longer than allowed. */
  readonly timedOut: boolean;
}

/**
 * The one place where a child process is started: bounded in time, killed with its step, its output
 * handed on as it comes so that it cannot fill our memory.
 * @param onOutput told what comes on stdout; what it throws ends the program and is thrown
 * @throws the spawn error when the program cannot be started; the signal's reason when aborted
 */
export async function superviseProgram(
  program: string,
  args: readonly string[],
  { clock, signal, totalMs, stallMs }: Supervision,
  onOutput: (text: string) => void,
): Promise<SupervisedRun> {
  signal.throwIfAborted();
  // Its streams are missing when the process is out of file descriptors; then `error` follows.
  const command = dyingWithParent(program, args);
  const child: ChildProcess = spawn(command.file, command.args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, so that its children are killed with it
  });
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killedBy) => resolve([code, killedBy]));
  });
  const kill = (): void => {
    killGroup(child);
    // Whoever still holds the pipes open must not keep us waiting.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  let timedOut = false;
  const expire = (): void => {
    timedOut = true;
    kill();
  };
  const armStall = (): CancelTimer =>
    stallMs === undefined ? () => undefined : clock.after(stallMs, expire);
  const cancelTotal = clock.after(totalMs, expire);
  let cancelStall = armStall();
  signal.addEventListener('abort', kill, { once: true });

  let fault: { readonly error: unknown } | undefined;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    cancelStall();
    cancelStall = armStall();
    try {
      onOutput(text);
    } catch (error) {
      fault ??= { error };
      kill();
    }
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-KEPT_STDERR);
  });

  try {
    const [exitCode, killedBy] = await ended;
    signal.throwIfAborted();
    if (fault !== undefined) {
      throw fault.error;
    }
    const notStarted = startFailure(exitCode, stderr);
    if (notStarted !== undefined) {
      throw notStarted;
    }
    return { exitCode, killedBy, stderr, timedOut };
  } finally {
    cancelTotal();
    cancelStall();
    signal.removeEventListener('abort', kill);
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return; // never started, or ended: its number may be somebody else's by now
  }
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // it has not become the leader of its group yet
  }
}
