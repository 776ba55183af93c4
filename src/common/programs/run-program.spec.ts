import { spawnSync } from 'node:child_process';
import { FakeClock, settle } from '../../../test/fakes/fake-clock';
import { runProgram } from './run-program';

const HOUR_MS = 3_600_000;

/** Is there a `sleep` with this argument? */
const running = (argument: string): boolean =>
  spawnSync('pgrep', ['-f', `^sleep ${argument}$`]).status === 0;

describe('runProgram', () => {
  const limits = (change: Partial<Parameters<typeof runProgram>[2]> = {}) => ({
    clock: new FakeClock(),
    signal: new AbortController().signal,
    totalMs: HOUR_MS,
    ...change,
  });

  it('gives what the program printed and how it ended', async () => {
    const run = await runProgram('sh', ['-c', 'echo out; echo err >&2; exit 3'], limits());
    expect(run).toEqual({
      exitCode: 3,
      killedBy: null,
      stdout: 'out\n',
      stderr: 'err\n',
      timedOut: false,
    });
  });

  it('keeps a bounded part of a flood, and lets the program end', async () => {
    const flood = 'head -c 3000000 /dev/zero | tr "\\0" x';
    const run = await runProgram('sh', ['-c', `${flood}; ${flood} >&2; echo end >&2`], limits());
    expect([run.stdout.length, run.stderr.length]).toEqual([1_048_576, 32_768]);
    expect(run.stderr.endsWith('end\n')).toBe(true);
  });

  it('kills a program that takes too long, also when its own child holds the pipes', async () => {
    const clock = new FakeClock();
    const mark = `600.${process.pid}`;
    const run = runProgram('sh', ['-c', `sleep ${mark}; true`], limits({ clock }));
    while (!running(mark)) {
      await settle();
    }
    await clock.advance(HOUR_MS);
    expect(await run).toMatchObject({ timedOut: true, killedBy: 'SIGKILL' });
    while (running(mark)) {
      await settle();
    }
    expect(clock.pendingTimers).toBe(0);
  });

  it('kills the program when the signal aborts, and throws its reason', async () => {
    const stop = new AbortController();
    const clock = new FakeClock();
    const run = runProgram('sleep', ['600'], limits({ signal: stop.signal, clock }));
    const reason = new Error('called off');
    stop.abort(reason);
    await expect(run).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it('starts nothing when the signal has aborted before', async () => {
    const reason = new Error('called off');
    await expect(
      runProgram('false', [], limits({ signal: AbortSignal.abort(reason) })),
    ).rejects.toBe(reason);
  });

  it('says that there is no such program', async () => {
    await expect(runProgram('/nowhere/program', [], limits())).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });
});
