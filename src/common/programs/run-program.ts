import { superviseProgram, type SupervisedRun, type Supervision } from './supervised-program';

/** More than any report of ours. */
const LARGEST_OUTPUT = 1_048_576;

export interface ProgramRun extends SupervisedRun {
  /** The first 1 048 576 characters. */
  readonly stdout: string;
}

/** Runs a program for what it prints on stdout; bounds and errors as {@link superviseProgram}. */
export async function runProgram(
  program: string,
  args: readonly string[],
  limits: Supervision,
): Promise<ProgramRun> {
  let stdout = '';
  const run = await superviseProgram(program, args, limits, (text) => {
    stdout += text.slice(0, LARGEST_OUTPUT - stdout.length);
  });
  return { ...run, stdout };
}
