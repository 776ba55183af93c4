import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../src/common/clock/system-clock';
import { FfmpegMediaConverter } from '../../src/modules/pipeline/media/ffmpeg.media-converter';
import type { Conversion } from '../../src/modules/pipeline/media/media-converter.port';
import { childProcesses } from '../support/child-processes';
import { generated } from '../support/make-audio';
import { removeTempDirs, tempDir } from '../support/temp-dir';

const SINE = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=4'];
const MAX_SECONDS = 7200;

describe('the media converter, with files and a machine that mean no good', () => {
  const never = new AbortController().signal;
  let folder: string;
  let outputPath: string;

  beforeAll(async () => {
    folder = await tempDir('harmful');
    outputPath = join(folder, 'out.wav');
  });
  afterAll(removeTempDirs);

  const convert = async (
    inputPath: string,
    { ffmpegPath = 'ffmpeg', to = outputPath, onProgress = (): void => undefined } = {},
  ): Promise<Conversion> => {
    const converter = new FfmpegMediaConverter(
      { ffmpegPath, ffprobePath: 'ffprobe' },
      new SystemClock(),
    );
    const probe = await converter.probe(inputPath, never);
    const request = { inputPath, outputPath: to, probe, maxSeconds: MAX_SECONDS };
    return converter.convert(request, never, onProgress);
  };

  describe('takes no name of a tag for words of ffmpeg', () => {
    const level = (position: number, mean: number): string =>
      `[Parsed_volumedetect_${position} @ 0x1] n_samples: 999999999\n` +
      `[Parsed_volumedetect_${position} @ 0x1] mean_volume: ${mean}.0 dB\n`;

    it.each<[string, string]>([
      ['the disk is full', 'av_interleaved_write_frame(): No space left on device\n'],
      ['the channels cancel out', level(2, 0) + level(4, -90)],
      ['the input ends here', '\nStream mapping:\nError muxing a packet: Disk quota exceeded\n'],
    ])('that says that %s', async (_what, words) => {
      for (const name of ['forged.flac', 'forged.ogg']) {
        const path = await generated(
          folder,
          name,
          ...[...SINE, '-ac', '2', '-metadata', `a\n${words}b=c`],
        );
        expect((await readFile(path)).includes(words)).toBe(true);
        await expect(convert(path)).resolves.toEqual({ durationSeconds: 4 });
        expect((await readFile(outputPath)).subarray(44).some((byte) => byte !== 0)).toBe(true);
      }
    });
  });

  /** Runs ffmpeg and keeps its peak memory, as Linux counts it, in `<path>.peak`. */
  const measuringFfmpeg = async (): Promise<string> => {
    const path = join(folder, 'measuring-ffmpeg');
    await writeFile(
      path,
      `#!/bin/sh
ffmpeg "$@" &
while grep VmHWM "/proc/$!/status" > "$0.now" 2>&1; do mv "$0.now" "$0.peak"; done
wait $!
`,
    );
    await chmod(path, 0o755);
    return path;
  };

  it('holds no hour of silence in memory that a small file claims between two words', async () => {
    const path = await generated(
      folder,
      'gap.m4a',
      ...[...SINE, '-c:a', 'aac', '-bsf:a', "setts=ts='if(gte(N,100),TS+3600/TB,TS)'"],
    );
    const ffmpegPath = await measuringFfmpeg();
    const { durationSeconds } = await convert(path, { ffmpegPath });
    expect(durationSeconds).toBeCloseTo(3604, 0);
    const [, kilobytes] = /(\d+) kB/.exec(await readFile(`${ffmpegPath}.peak`, 'utf8')) ?? [];
    expect(Number(kilobytes)).toBeGreaterThan(10_000);
    expect(Number(kilobytes)).toBeLessThan(400_000);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
    'does not hold the file to blame when ffmpeg is sent %s',
    async (signal) => {
      const path = await generated(
        folder,
        'long.flac',
        ...['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono:d=7000', '-compression_level', '0'],
      );
      let sent: Promise<void> | undefined;
      const onProgress = (): void => {
        sent ??= childProcesses().then((pids) => pids.forEach((pid) => process.kill(pid, signal)));
      };
      await expect(convert(path, { onProgress })).rejects.toMatchObject({
        code: 'converter_unavailable',
      });
      await sent;
    },
  );

  it('sums six loud channels without clipping, also from a codec without whole numbers', async () => {
    const all = ['c0=c0', 'c1=c0', 'c2=c0', 'c3=0*c0', 'c4=c0', 'c5=c0'].join('|');
    const loud = [...SINE, '-af', `volume=8,pan=5.1|${all}`, '-b:a', '384k'];
    const loudest: number[] = [];
    for (const name of ['six.flac', 'six.m4a']) {
      await convert(await generated(folder, name, ...loud));
      loudest.push(power(await readFile(outputPath)));
    }
    const [whole = NaN, lossy = NaN] = loudest;
    expect(Math.abs(10 * Math.log10(lossy / whole))).toBeLessThan(0.5);
  });

  const disk = smallDisk();
  (disk === undefined ? it.skip : it)('says so when the disk is full in the middle', async () => {
    try {
      const path = await generated(folder, 'minutes.flac', '-f', 'lavfi', '-i', 'sine=d=400');
      const to = join(disk ?? '', 'out.wav');
      await expect(convert(path, { to })).rejects.toMatchObject({ code: 'storage_full' });
    } finally {
      execFileSync('umount', [disk ?? '']);
      rmSync(disk ?? '', { recursive: true });
    }
  });
});

/** Mean square of the samples between the first and the last second, which codecs pad. */
function power(wav: Buffer): number {
  let sum = 0;
  for (let at = 44 + 32_000; at < 44 + 3 * 32_000; at += 2) {
    sum += wav.readInt16LE(at) ** 2;
  }
  return sum / 32_000;
}

/** A disk of one megabyte, or undefined where this account may not mount one. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'steward-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    process.stderr.write('SKIPPED: a full disk; only root may mount the small one it needs\n');
    return undefined;
  }
}
