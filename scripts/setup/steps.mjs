import { performance } from 'node:perf_hooks';
import { interrupted } from './interrupt.mjs';

/** A step that did not work out, told to the person in front of the screen without a stack. */
export class StepFailure extends Error {
  /** @param output what the failed program printed, shown above the message */
  constructor(message, output = '') {
    super(message);
    this.output = output.trimEnd();
  }
}

export const say = (line) => process.stdout.write(`${line}\n`);

const seconds = (startedAt) => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

/** Runs one named part of a command between a heading and a line with its duration. */
export async function step(title, action) {
  const startedAt = performance.now();
  say(`\n== ${title}`);
  try {
    const result = await action();
    say(`== ${title}: ok (${seconds(startedAt)})`);
    return result;
  } catch (error) {
    say(`== ${title}: FAILED (${seconds(startedAt)})`);
    throw error;
  }
}

/** Prints a failure: what the program said, then one line of what is wrong. */
export function report(error) {
  if (!(error instanceof StepFailure)) {
    console.error(error);
    return;
  }
  if (error.output) {
    console.error(error.output);
  }
  console.error(error.message);
}

/** The body of a command: its number is the exit code; a failure is printed and exits 1, Ctrl-C 130. */
export async function main(body) {
  let code;
  try {
    code = (await body()) ?? 0;
  } catch (error) {
    if (interrupted.aborted) {
      console.error(`stopped by ${interrupted.reason}`);
      code = 130;
    } else {
      report(error);
      code = 1;
    }
  }
  process.exitCode = code;
}
