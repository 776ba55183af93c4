import { accessSync, constants } from 'node:fs';

/** Of util-linux, which every Debian has. */
const SETPRIV = '/usr/bin/setpriv';

/** What it says, and its exit codes, when it cannot start the program. */
const NOT_STARTED = /^setpriv: failed to execute/;
const CODES: Readonly<Record<number, string>> = { 126: 'EACCES', 127: 'ENOENT' };

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * The command that runs `program` so that the kernel kills it when this process dies, also of kill -9;
 * otherwise an engine would work on for nobody, and one more after every crash. Where there is no such
 * means the program is run as it is.
 */
export function dyingWithParent(program: string, args: readonly string[]): Command {
  try {
    accessSync(SETPRIV, constants.X_OK);
    return { file: SETPRIV, args: ['--pdeathsig', 'KILL', '--', program, ...args] };
  } catch {
    return { file: program, args };
  }
}

/** The error that starting the program itself would have given, when `dyingWithParent` could not start it. */
export function startFailure(exitCode: number | null, stderr: string): Error | undefined {
  const code = CODES[exitCode ?? 0];
  return code !== undefined && NOT_STARTED.test(stderr)
    ? Object.assign(new Error(`${code}: the program cannot be started`), { code })
    : undefined;
}
