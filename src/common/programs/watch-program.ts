import { superviseProgram, type SupervisedRun, type Supervision } from './supervised-program';

/** No line of a progress report is nearly as long. */
const LONGEST_LINE = 1024;

/**
 * Runs a program that tells its progress line by line on stdout; bounds and errors as
 * {@link superviseProgram}.
 */
export async function watchProgram(
  program: string,
  args: readonly string[],
  limits: Supervision,
  onLine: (line: string) => void,
): Promise<SupervisedRun> {
  let rest = '';
  return superviseProgram(program, args, limits, (text) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    lines.forEach(onLine);
  });
}
