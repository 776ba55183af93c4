import { FakeClock } from '../../../test/fakes/fake-clock';
import { watchProgram } from './watch-program';

const TOTAL_MS = 10_000;
const STALL_MS = 1000;

describe('a watched program', () => {
  let clock: FakeClock;
  let abort: AbortController;

  beforeEach(() => {
    clock = new FakeClock();
    abort = new AbortController();
  });
  afterEach(() => expect(clock.pendingTimers).toBe(0));

  const watch = (script: string, onLine: (line: string) => void = () => undefined) =>
    watchProgram(
      '/bin/sh',
      ['-c', script],
      { clock, signal: abort.signal, totalMs: TOTAL_MS, stallMs: STALL_MS },
      onLine,
    );

  /** Runs `script`, which tells its process id first, and hands that out as soon as it is told. */
  const watchHanging = async (script: string) => {
    let told: (pid: number) => void;
    const pid = new Promise<number>((resolve) => (told = resolve));
    const run = watch(`echo $$; ${script}`, (line) => told(Number(line)));
    run.catch(() => undefined);
    return { run, pid: await pid };
  };

  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('tells its lines, whole, and how it ended', async () => {
    const lines: string[] = [];
    const run = await watch('printf "a=1\\nb="; printf "2\\n"; echo why >&2; exit 3', (line) =>
      lines.push(line),
    );
    expect(lines).toEqual(['a=1', 'b=2']);
    expect(run).toEqual({ exitCode: 3, killedBy: null, stderr: 'why\n', timedOut: false });
  });

  it('is killed when it is silent for too long', async () => {
    const { run, pid } = await watchHanging('exec sleep 1000');
    await clock.advance(STALL_MS);
    await expect(run).resolves.toMatchObject({ timedOut: true, killedBy: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
  });

  it('may be silent again after each line, but not run longer than allowed', async () => {
    const lines: string[] = [];
    let heard: () => void = () => undefined;
    const nextLine = (): Promise<void> => new Promise((resolve) => (heard = resolve));
    const first = nextLine();
    const script = 'trap "echo more" USR1; echo $$; while :; do sleep 0.01; done';
    const run = watch(script, (line) => {
      lines.push(line);
      heard();
    });
    await first;
    const pid = Number(lines[0]);
    for (let passed = 0; passed < TOTAL_MS - STALL_MS; passed += STALL_MS - 1) {
      await clock.advance(STALL_MS - 1);
      const next = nextLine();
      process.kill(pid, 'SIGUSR1');
      await next;
    }
    expect(isAlive(pid)).toBe(true);
    await clock.advance(TOTAL_MS - clock.monotonic());
    await expect(run).resolves.toMatchObject({ timedOut: true, killedBy: 'SIGKILL' });
  });

  it('is killed when it is called off, with the reason as the failure', async () => {
    const { run, pid } = await watchHanging('exec sleep 1000');
    const reason = new Error('called off');
    abort.abort(reason);
    await expect(run).rejects.toBe(reason);
    expect(isAlive(pid)).toBe(false);
  });

  it('is not started when it was called off before', async () => {
    const onLine = jest.fn();
    abort.abort(new Error('called off'));
    await expect(watch('echo started', onLine)).rejects.toThrow('called off');
    expect(onLine).not.toHaveBeenCalled();
  });

  it('does not keep us waiting for a child of its own that holds the pipes', async () => {
    const { run } = await watchHanging('sleep 5 & wait');
    abort.abort(new Error('called off'));
    await expect(run).rejects.toThrow('called off');
  });

  it('tells a signal that was not ours', async () => {
    await expect(watch('kill -SEGV $$')).resolves.toMatchObject({
      killedBy: 'SIGSEGV',
      timedOut: false,
    });
  });

  it('keeps only the end of a flood, with or without line ends', async () => {
    const flood = (end: string): string =>
      `head -c 20000000 /dev/zero | tr '\\0' '${end}'; printf 'last words'`;
    const longest = { line: 0 };
    const { stderr } = await watch(`{ ${flood('x')}; } >&2; { ${flood('y')}; }; echo`, (line) => {
      longest.line = Math.max(longest.line, line.length);
    });
    expect(stderr.length).toBeLessThan(40_000);
    expect(stderr.endsWith('last words')).toBe(true);
    expect(longest.line).toBeLessThan(100_000);
    expect((await watch(`{ ${flood('\\n')}; } >&2`)).stderr.length).toBeLessThan(40_000);
  });

  it('is killed when its listener fails, and fails with it', async () => {
    let pid = 0;
    const failure = new Error('listener');
    const run = watch('echo $$; exec sleep 1000', (line) => {
      pid = Number(line);
      throw failure;
    });
    await expect(run).rejects.toBe(failure);
    expect(isAlive(pid)).toBe(false);
  });

  it.each(['/nonexistent/program', '/etc/passwd'])(
    'fails when %s cannot be started',
    async (path) => {
      const limits = { clock, signal: abort.signal, totalMs: TOTAL_MS, stallMs: STALL_MS };
      await expect(watchProgram(path, [], limits, () => undefined)).rejects.toThrow(
        /ENOENT|EACCES/,
      );
    },
  );
});
