import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeClock } from '../../../../test/fakes/fake-clock';
import { eventually } from '../../../../test/support/eventually';
import { removeTempDirs, tempDir } from '../../../../test/support/temp-dir';
import { FfmpegMediaConverter } from './ffmpeg.media-converter';
import type { ConversionProgress, MediaProbe } from './media-converter.port';

const PROBE: MediaProbe = {
  durationSeconds: 10,
  channels: 1,
  startSeconds: 0,
  codec: 'opus',
  format: 'ogg',
};

/** In a stand-in for ffmpeg: writes so many seconds of audio to its last argument. */
const writes = (seconds: number): string =>
  `for output; do :; done; head -c ${44 + seconds * 32_000} /dev/zero > "\${output#file:}"`;

describe('the media converter, with programs that misbehave', () => {
  const never = new AbortController().signal;
  let folder: string;
  let clock: FakeClock;
  let converter: FfmpegMediaConverter;

  beforeEach(async () => {
    folder = await tempDir('converter');
    clock = new FakeClock();
    converter = new FfmpegMediaConverter(
      { ffmpegPath: join(folder, 'ffmpeg'), ffprobePath: join(folder, 'ffprobe') },
      clock,
    );
    await writeFile(join(folder, 'in'), 'OggS');
  });
  afterEach(() => expect(clock.pendingTimers).toBe(0));
  afterAll(removeTempDirs);

  const program = async (name: 'ffmpeg' | 'ffprobe', script: string): Promise<void> => {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  };

  const probe = (signal = never): Promise<MediaProbe> =>
    converter.probe(join(folder, 'in'), signal);

  const convert = (
    more: { probe?: Partial<MediaProbe>; signal?: AbortSignal; maxSeconds?: number } = {},
    onProgress: (progress: ConversionProgress) => void = () => undefined,
  ) =>
    converter.convert(
      {
        inputPath: join(folder, 'in'),
        outputPath: join(folder, 'out.wav'),
        probe: { ...PROBE, ...more.probe },
        maxSeconds: more.maxSeconds ?? 60,
      },
      more.signal ?? never,
      onProgress,
    );

  /** Tells its process id in a file when it is under way, and hangs. */
  const HANGS = 'echo $$ > "$0.pid.tmp"; mv "$0.pid.tmp" "$0.pid"; exec sleep 1000';

  const underWay = async (name: string): Promise<number> => {
    let pid = 0;
    await eventually(`${name} is under way`, async () => {
      pid = Number(await readFile(join(folder, `${name}.pid`), 'utf8').catch(() => ''));
      return pid > 0;
    });
    return pid;
  };

  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  const code = (expected: string): unknown => expect.objectContaining({ code: expected });

  describe('Scenario: a converter that hangs is killed', () => {
    it('while it probes', async () => {
      await program('ffprobe', HANGS);
      const failure = expect(probe()).rejects.toEqual(code('conversion_timeout'));
      const pid = await underWay('ffprobe');
      await clock.advance(29_999);
      expect(isAlive(pid)).toBe(true);
      await clock.advance(1);
      await failure;
      expect(isAlive(pid)).toBe(false);
    });

    it('while it converts without telling progress', async () => {
      await program('ffmpeg', HANGS);
      const failure = expect(convert()).rejects.toEqual(code('conversion_timeout'));
      const pid = await underWay('ffmpeg');
      await clock.advance(59_999);
      expect(isAlive(pid)).toBe(true);
      await clock.advance(1);
      await failure;
      expect(isAlive(pid)).toBe(false);
    });

    it('while it tells its version', async () => {
      await program('ffmpeg', HANGS);
      const failure = expect(converter.check()).rejects.toEqual(code('conversion_timeout'));
      await underWay('ffmpeg');
      await clock.advance(10_000);
      await failure;
    });
  });

  it('kills a conversion that goes on and on', async () => {
    await program(
      'ffmpeg',
      'trap "echo out_time_us=1000000" USR1; echo $$ > "$0.pid.tmp"; mv "$0.pid.tmp" "$0.pid"; ' +
        'while :; do sleep 0.01; done',
    );
    let told: () => void = () => undefined;
    const failure = expect(convert({}, () => told())).rejects.toEqual(code('conversion_timeout'));
    const pid = await underWay('ffmpeg');
    // Ten minutes and a second for each of the ten seconds, with a sign of life every 50 s.
    for (let passed = 0; passed < 600_000; passed += 50_000) {
      const progress = new Promise<void>((resolve) => (told = resolve));
      process.kill(pid, 'SIGUSR1');
      await progress;
      await clock.advance(50_000);
      expect(isAlive(pid)).toBe(true);
    }
    await clock.advance(10_000);
    await failure;
    expect(isAlive(pid)).toBe(false);
  });

  it.each(['ffmpeg', 'ffprobe'] as const)('kills %s when it is called off', async (name) => {
    await program(name, HANGS);
    const abort = new AbortController();
    const reason = new Error('called off');
    const failure = expect(
      name === 'ffmpeg' ? convert({ signal: abort.signal }) : probe(abort.signal),
    ).rejects.toBe(reason);
    const pid = await underWay(name);
    abort.abort(reason);
    await failure;
    expect(isAlive(pid)).toBe(false);
  });

  it('starts nothing when it is called off before ffmpeg runs', async () => {
    await program('ffmpeg', 'touch "$0.started"');
    const abort = new AbortController();
    const reason = new Error('called off');
    const failure = expect(convert({ signal: abort.signal })).rejects.toBe(reason);
    abort.abort(reason);
    await failure;
    await expect(readFile(join(folder, 'ffmpeg.started'))).rejects.toThrow('ENOENT');
  });

  describe('is converter_unavailable when a program', () => {
    const fails = async (work: () => Promise<unknown>): Promise<void> =>
      expect(work()).rejects.toEqual(code('converter_unavailable'));

    it('is missing', async () => {
      await fails(() => probe());
      await fails(() => convert());
      await fails(() => converter.check());
    });

    it('went missing after it ran well', async () => {
      await program('ffmpeg', writes(10));
      await convert();
      converter = new FfmpegMediaConverter({ ffmpegPath: '/gone', ffprobePath: '/gone' }, clock);
      await fails(() => convert());
    });

    it('may not be run', async () => {
      for (const name of ['ffmpeg', 'ffprobe'] as const) {
        await program(name, 'exit 0');
        await chmod(join(folder, name), 0o644);
      }
      await fails(() => probe());
      await fails(() => convert());
      await fails(() => converter.check());
    });

    it.each(['KILL', 'SEGV', 'TERM'])('is killed by SIG%s from outside', async (signal) => {
      await program('ffmpeg', `kill -${signal} $$`);
      await program('ffprobe', `kill -${signal} $$`);
      await fails(() => probe());
      await fails(() => convert());
      await fails(() => converter.check());
    });

    it('does not find its libraries', async () => {
      const script = 'echo "$0: error while loading shared libraries: libx" >&2; exit 127';
      await program('ffmpeg', script);
      await program('ffprobe', script);
      await fails(() => probe());
      await fails(() => convert());
      await fails(() => converter.check());
    });

    it('tells nonsense', async () => {
      await program('ffprobe', 'echo nonsense');
      await fails(() => probe());
    });
  });

  it('hears the last words behind a flood of errors', async () => {
    await program(
      'ffmpeg',
      `head -c 50000000 /dev/zero | tr '\\0' 'x' >&2; echo >&2
       echo "av_interleaved_write_frame(): No space left on device" >&2; exit 1`,
    );
    await expect(convert()).rejects.toEqual(code('storage_full'));
  });

  it('measures what was written and believes neither the probe nor exit code 0', async () => {
    await program('ffmpeg', writes(3));
    await expect(convert()).resolves.toEqual({ durationSeconds: 3 });
  });

  it('takes no audio for damage in a file that begins like media, whatever the exit code', async () => {
    await program('ffmpeg', `${writes(0)}; echo done >&2`);
    await expect(convert()).rejects.toEqual(code('corrupt_media'));
    await writeFile(join(folder, 'in'), 'some text');
    await expect(convert()).rejects.toEqual(code('not_media'));
  });

  it('believes the words of a full disk, not exit code 0', async () => {
    await program(
      'ffmpeg',
      `${writes(3)}; echo "Error closing file file:out: No space left on device" >&2; exit 0`,
    );
    await expect(convert()).rejects.toEqual(code('storage_full'));
  });

  it('holds the storage to blame when the input cannot be read', async () => {
    await program('ffprobe', 'echo "file: No such file or directory" >&2; exit 1');
    await expect(converter.probe(join(folder, 'none'), never)).rejects.toEqual(
      code('storage_unavailable'),
    );
  });

  it('tells progress in seconds', async () => {
    await program(
      'ffmpeg',
      `echo out_time_us=N/A; echo out_time_us=1500000; echo progress=end; ${writes(3)}`,
    );
    const told: number[] = [];
    await convert({}, ({ seconds }) => told.push(seconds));
    expect(told).toEqual([1.5]);
  });

  it('does not begin with what claims to be too long', async () => {
    await expect(convert({ probe: { durationSeconds: 61 } })).rejects.toEqual(code('too_long'));
  });

  it('refuses what turns out to be too long', async () => {
    await program('ffmpeg', writes(61));
    await expect(convert({ probe: { durationSeconds: null } })).rejects.toEqual(code('too_long'));
  });

  it('converts again, the other way, when two channels cancelled out', async () => {
    const level = (at: number, mean: number): string =>
      `echo "[Parsed_volumedetect_${at} @ 0x1] n_samples: 100" >&2; ` +
      `echo "[Parsed_volumedetect_${at} @ 0x1] mean_volume: ${mean} dB" >&2; `;
    await program(
      'ffmpeg',
      `echo "$*" >> "$0.calls"; ${level(4, -91)} ${level(2, -20)} ${writes(3)}`,
    );
    await convert({ probe: { channels: 2 } });
    const calls = (await readFile(join(folder, 'ffmpeg.calls'), 'utf8')).trim().split('\n');
    expect(calls.map((call) => /pan=mono\|c0=(\S+?),/.exec(call)?.[1])).toEqual([
      '0.5*c0+0.5*c1',
      '0.5*c0-0.5*c1',
    ]);
  });
});
