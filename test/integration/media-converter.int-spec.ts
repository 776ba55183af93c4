import { execFile } from 'node:child_process';
import { copyFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock } from '../../src/common/clock/system-clock';
import { FfmpegMediaConverter } from '../../src/modules/pipeline/media/ffmpeg.media-converter';
import type { Conversion } from '../../src/modules/pipeline/media/media-converter.port';
import { generated, speech } from '../support/make-audio';
import { removeTempDirs, tempDir } from '../support/temp-dir';

const run = promisify(execFile);
const SINE = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=4'];
const VIDEO = ['-f', 'lavfi', '-i', 'testsrc=duration=4:size=64x64:rate=10'];
const MAX_SECONDS = 60;

describe('the media converter on real ffmpeg', () => {
  let folder: string;
  let outputPath: string;
  const never = new AbortController().signal;
  const converter = new FfmpegMediaConverter(
    { ffmpegPath: 'ffmpeg', ffprobePath: 'ffprobe' },
    new SystemClock(),
  );

  beforeAll(async () => {
    folder = await tempDir('media');
    outputPath = join(folder, 'out.wav');
  });
  afterAll(removeTempDirs);

  const make = (name: string, ...args: string[]): Promise<string> =>
    generated(folder, name, ...args);

  const file = async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };

  const convert = async (
    inputPath: string,
    { maxSeconds = MAX_SECONDS, signal = never, to = outputPath } = {},
  ): Promise<Conversion> => {
    const probe = await converter.probe(inputPath, signal);
    const request = { inputPath, outputPath: to, probe, maxSeconds };
    return converter.convert(request, signal, () => undefined);
  };

  /** Samples of the output from `from` to `to` seconds. */
  const samples = async (from = 0, to = Infinity): Promise<number[]> => {
    const bytes = await readFile(outputPath);
    const heard: number[] = [];
    const end = Math.min(bytes.length - 1, 44 + Math.round(to * 16_000) * 2);
    for (let at = 44 + Math.round(from * 16_000) * 2; at < end; at += 2) {
      heard.push(bytes.readInt16LE(at));
    }
    return heard;
  };

  /** Root mean square in dB below full scale. */
  const loudness = async (from?: number, to?: number): Promise<number> => {
    const heard = await samples(from, to);
    const power = heard.reduce((sum, value) => sum + value * value, 0) / heard.length;
    return 10 * Math.log10(power / 32_768 ** 2);
  };

  it('finds the programs', async () => {
    await expect(converter.check()).resolves.toBeUndefined();
  });

  describe('takes what people send', () => {
    it.each<[string, string[], string]>([
      ['voice.wav', ['-ar', '44100', '-ac', '2'], 'wav/pcm_s16le'],
      ['voice.ogg', ['-c:a', 'libopus'], 'ogg/opus'],
      ['voice.mp3', [], 'mp3/mp3'],
      ['voice.m4a', [], 'mov,mp4,m4a,3gp,3g2,mj2/aac'],
      ['voice.aac', [], 'aac/aac'],
      ['voice.webm', ['-c:a', 'libopus'], 'matroska,webm/opus'],
      ['voice.wma', [], 'asf/wmav2'],
      ['voice.au', ['-ar', '8000', '-c:a', 'pcm_mulaw'], 'au/pcm_mulaw'],
      ['surround.flac', ['-ac', '6'], 'flac/flac'],
    ])('%s', async (name, args, names) => {
      const path = await make(name, ...SINE, ...args);
      const probe = await converter.probe(path, never);
      expect(`${probe.format}/${probe.codec}`).toBe(names);
      const { durationSeconds } = await convert(path);
      expect(durationSeconds).toBeCloseTo(4, 0);
      expect(await loudness(1, 3)).toBeGreaterThan(-40);
    });

    it('AMR of a phone call', async () => {
      const path = join(folder, 'call.amr-nb');
      await run('sox', [
        ...['-n', '-r', '8000', '-c', '1', path],
        ...['synth', '4', 'sine', '440', 'vol', '0.5'],
      ]);
      expect((await converter.probe(path, never)).codec).toBe('amr_nb');
      expect((await convert(path)).durationSeconds).toBeCloseTo(4, 0);
    });

    it('video, of which it takes the sound', async () => {
      const path = await make('film.mp4', ...VIDEO, ...SINE, '-c:a', 'aac');
      expect((await convert(path)).durationSeconds).toBeCloseTo(4, 0);
    });

    it('music with a picture of its cover', async () => {
      const cover = await make('cover.png', ...VIDEO, '-frames:v', '1');
      const path = await make(
        'cover.mp3',
        ...[...SINE, '-i', cover, '-map', '0:a', '-map', '1:v', '-disposition:v', 'attached_pic'],
      );
      expect((await convert(path)).durationSeconds).toBeCloseTo(4, 0);
    });

    it.each([
      'it\'s "quoted".mp3',
      'two\nlines.mp3',
      'Запись № 1.mp3',
      '%d %s $(id).mp3',
      'a:b|c,d',
    ])('a file named %j', async (name) => {
      const plain = await make('plain.mp3', ...SINE);
      const path = join(folder, name);
      await copyFile(plain, path);
      expect((await convert(path)).durationSeconds).toBeCloseTo(4, 0);
    });

    it.each([
      '-dash.mp3',
      'http://localhost/a.mp3',
      'concat:a.mp3|b.mp3',
      'subfile,,start,0,,:a.mp3',
    ])('the relative name %s as a name and nothing else', async (name) => {
      await expect(converter.probe(name, never)).rejects.toMatchObject({
        code: 'storage_unavailable',
      });
    });
  });

  describe('writes', () => {
    it('16 kHz mono s16le behind a canonical header of 44 bytes, without the tags', async () => {
      await convert(await make('tagged.mp3', ...SINE, '-metadata', 'title=Secret'));
      const bytes = await readFile(outputPath);
      const header = Buffer.alloc(44);
      header.write('RIFF', 0);
      header.writeUInt32LE(bytes.length - 8, 4);
      header.write('WAVEfmt ', 8);
      header.writeUInt32LE(16, 16);
      header.writeUInt16LE(1, 20); // PCM
      header.writeUInt16LE(1, 22); // channels
      header.writeUInt32LE(16_000, 24);
      header.writeUInt32LE(32_000, 28);
      header.writeUInt16LE(2, 32);
      header.writeUInt16LE(16, 34);
      header.write('data', 36);
      header.writeUInt32LE(bytes.length - 44, 40);
      expect(bytes.subarray(0, 44)).toEqual(header);
    });

    it('what it measures: the seconds of the bytes it wrote', async () => {
      const { durationSeconds } = await convert(await make('measured.m4a', ...SINE));
      expect(durationSeconds).toBe(((await stat(outputPath)).size - 44) / 32_000);
    });

    it('silence before sound that starts later than its video', async () => {
      const path = await make(
        'late.mp4',
        ...['-itsoffset', '3', ...SINE, ...VIDEO, '-map', '0:a', '-map', '1:v', '-c:a', 'aac'],
      );
      const probe = await converter.probe(path, never);
      expect(probe.startSeconds).toBeCloseTo(3, 0);
      expect(probe.durationSeconds).toBeCloseTo(7, 0);
      expect((await convert(path)).durationSeconds).toBeCloseTo(7, 0);
      expect(await loudness(0, 2.9)).toBeLessThan(-80);
      expect(await loudness(3.2, 6.5)).toBeGreaterThan(-40);
    });

    it('the silences that AMR leaves out, so that what is said keeps its time', async () => {
      const said = await speech(folder, 'turn on the lights in the kitchen');
      const path = join(folder, 'call-with-pauses.amr-nb');
      await run('sox', [said, '-r', '8000', '-c', '1', path, 'pad', '3', '3']);
      const { durationSeconds } = await convert(path);
      expect(durationSeconds).toBeGreaterThan(5);
      expect(await loudness(0, 3)).toBeLessThan(-50);
      expect(await loudness(3.3, 4.8)).toBeGreaterThan(-35);
    });

    it('joined pieces of different channels one after the other, not each padded from zero', async () => {
      const mono = await make('piece-mono.mp3', ...SINE, '-ac', '1');
      const stereo = await make('piece-stereo.mp3', ...SINE, '-ac', '2');
      for (const order of [
        [mono, stereo, mono],
        [stereo, mono, stereo],
      ]) {
        const pieces = await Promise.all(order.map((path) => readFile(path)));
        const { durationSeconds } = await convert(await file('joined.mp3', Buffer.concat(pieces)));
        expect(Math.abs(durationSeconds - 12)).toBeLessThan(0.5);
      }
    });
  });

  describe('two channels', () => {
    const stereo = (name: string, filter: string): Promise<string> =>
      make(name, ...SINE, '-af', filter);

    it('Scenario: stereo in opposite phase is not cancelled out', async () => {
      await convert(await stereo('one.wav', 'pan=mono|c0=c0'));
      const whole = await loudness();
      await convert(await stereo('opposite.wav', 'pan=stereo|c0=c0|c1=-1*c0'));
      expect(Math.abs((await loudness()) - whole)).toBeLessThan(1);
      await convert(await stereo('nearly.wav', 'pan=stereo|c0=c0|c1=-0.7*c0'));
      expect(Math.abs((await loudness()) - whole)).toBeLessThan(2);
    });

    it('speech in one channel only loses no more than half its amplitude', async () => {
      const said = await speech(folder, 'turn on the lights in the kitchen');
      await convert(said);
      const whole = await loudness();
      for (const [name, sides] of [
        ['left.wav', 'c0=c0|c1=0*c0'],
        ['right.wav', 'c0=0*c0|c1=c0'],
      ] as const) {
        await convert(await make(name, '-i', said, '-af', `pan=stereo|${sides}`));
        expect(Math.abs((await loudness()) - whole + 6)).toBeLessThan(1);
      }
    });

    it('the same sound in both keeps its level', async () => {
      await convert(await stereo('single.wav', 'pan=mono|c0=c0'));
      const whole = await loudness();
      await convert(await stereo('both.wav', 'pan=stereo|c0=c0|c1=c0'));
      expect(Math.abs((await loudness()) - whole)).toBeLessThan(0.5);
    });
  });

  describe('refuses as not_media', () => {
    it.each<[string, () => Promise<string>]>([
      ['no bytes at all', () => file('empty', '')],
      ['random bytes', () => file('random', noise(200_000))],
      ['random bytes named .mp3', () => file('random.mp3', noise(200_000))],
      ['text', () => file('text', 'Some plain text, nothing to hear.\n'.repeat(2000))],
      [
        'text named .mp3',
        () => file('text.mp3', 'Some plain text, nothing to hear.\n'.repeat(2000)),
      ],
      [
        'text named .gsm',
        () => file('text.gsm', 'Some plain text, nothing to hear.\n'.repeat(2000)),
      ],
      ['HTML', () => file('html', '<!DOCTYPE html><html><body>Hello</body></html>')],
      ['a PDF', () => file('pdf', '%PDF-1.4\n1 0 obj\n<<>>\nendobj\n')],
      ['a ZIP', () => file('zip', Buffer.concat([Buffer.from('PK\x03\x04'), noise(5000)]))],
      ['a PNG', () => make('picture.png', ...VIDEO, '-frames:v', '1')],
      ['a JPEG', () => make('picture.jpg', ...VIDEO, '-frames:v', '1')],
      ['a HEIC picture', () => file('heic', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic'))],
    ])('%s', async (_name, given) => {
      const path = await given();
      await expect(convert(path)).rejects.toMatchObject({ code: 'not_media' });
    });
  });

  it.each([1, 22, 333, 4444, 55_555])('refuses as not_media noise number %d', async (seed) => {
    for (const length of [10, 300, 5000, 500_000]) {
      await expect(convert(await file('noise', noise(length, seed)))).rejects.toMatchObject({
        code: 'not_media',
      });
    }
  });

  it('refuses video without sound as no_audio_stream', async () => {
    const path = await make('silent-film.mp4', ...VIDEO);
    await expect(converter.probe(path, never)).rejects.toMatchObject({ code: 'no_audio_stream' });
  });

  describe('refuses as corrupt_media', () => {
    const cut = async (name: string, length: number, ...args: string[]): Promise<string> => {
      const path = await make(name, ...SINE, ...args);
      await truncate(path, length);
      return path;
    };

    it.each<[string, number]>([
      ['cut.m4a', 5000],
      ['cut.wav', 40],
      ['header-only.wav', 78],
      ['cut.flac', 30],
      ['cut.ogg', 60],
      ['cut.webm', 60],
      ['cut.mp3', 40],
    ])('%s of %d bytes', async (name, length) => {
      await expect(convert(await cut(name, length))).rejects.toMatchObject({
        code: 'corrupt_media',
      });
    });
  });

  describe('takes damaged sound as far as it goes', () => {
    it('an Ogg that breaks off', async () => {
      const path = await make('half.ogg', ...SINE, '-c:a', 'libopus');
      await truncate(path, Math.floor((await stat(path)).size / 2));
      const { durationSeconds } = await convert(path);
      expect(durationSeconds).toBeGreaterThan(1);
      expect(durationSeconds).toBeLessThan(3);
    });

    it('an MP3 with a hole: shorter than the probe said, for the caller to see', async () => {
      const path = await make('hole.mp3', ...SINE, '-b:a', '64k');
      const bytes = await readFile(path);
      bytes.fill(0, Math.floor(bytes.length * 0.3), Math.floor(bytes.length * 0.8));
      await writeFile(path, bytes);
      const probe = await converter.probe(path, never);
      const { durationSeconds } = await convert(path);
      expect(durationSeconds).toBeGreaterThan(0.5);
      expect(durationSeconds).toBeLessThan((probe.durationSeconds ?? 0) * 0.95);
    });
  });

  describe('the length of a recording', () => {
    it.each(['known.wav', 'known.ogg', 'known.mp3', 'known.m4a', 'known.webm'])(
      'is known of %s before it is converted',
      async (name) => {
        const probe = await converter.probe(await make(name, ...SINE), never);
        expect(probe.durationSeconds).toBeCloseTo(4, 0);
      },
    );

    it('is not guessed for frames without a container', async () => {
      const probe = await converter.probe(await make('frames.aac', ...SINE), never);
      expect(probe.durationSeconds).toBeNull();
    });

    it('is that of the sound, not of a longer video', async () => {
      const short = ['-f', 'lavfi', '-i', 'sine=duration=1'];
      for (const name of ['short.mp4', 'short.webm']) {
        const codec = name.endsWith('mp4') ? 'aac' : 'libopus';
        const probe = await converter.probe(
          await make(name, ...VIDEO, ...short, '-c:a', codec),
          never,
        );
        expect(probe.durationSeconds).toBeCloseTo(1, 0);
      }
    });

    it('Scenario: a recording above the longest length ends too_long: claimed or decoded', async () => {
      const path = await make('four.mp3', ...SINE);
      await expect(convert(path, { maxSeconds: 2 })).rejects.toMatchObject({ code: 'too_long' });
      const request = { inputPath: path, outputPath, maxSeconds: 2 };
      const probe = { ...(await converter.probe(path, never)), durationSeconds: null };
      await expect(
        converter.convert({ ...request, probe }, never, () => undefined),
      ).rejects.toMatchObject({ code: 'too_long' });
      expect((await stat(outputPath)).size).toBeLessThanOrEqual(44 + 32_000 * 3);
    });

    it('may be the limit itself, with the padding of its encoder', async () => {
      const path = await make('padded.mp3', ...SINE);
      await expect(convert(path, { maxSeconds: 4 })).resolves.toBeDefined();
    });
  });

  it('reports storage_full when the output does not fit, also when ffmpeg ends with 0', async () => {
    const path = await make('short.wav', '-f', 'lavfi', '-i', 'sine=duration=0.2');
    await expect(convert(path, { to: '/dev/full' })).rejects.toMatchObject({
      code: 'storage_full',
    });
  });

  it('reports storage_unavailable when the output cannot be opened', async () => {
    const path = await make('short.wav', '-f', 'lavfi', '-i', 'sine=duration=0.2');
    await expect(convert(path, { to: join(folder, 'none', 'out.wav') })).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });

  it('names no path in what may leave the process', async () => {
    const path = await file('private-name.mp3', 'text '.repeat(1000));
    const error: unknown = await convert(path).catch((failure: unknown) => failure);
    expect(String(error)).not.toContain('private-name');
    expect(String((error as Error).cause)).not.toContain('private-name');
  });

  it('tells how far it is', async () => {
    const path = await make('long.flac', '-f', 'lavfi', '-i', 'sine=duration=50');
    const told: number[] = [];
    const probe = await converter.probe(path, never);
    await converter.convert(
      { inputPath: path, outputPath, probe, maxSeconds: MAX_SECONDS },
      never,
      ({ seconds }) => told.push(seconds),
    );
    expect(told.at(-1)).toBeCloseTo(50, 0);
  });

  it('does not begin when it was called off before', async () => {
    const path = await make('four.wav', ...SINE);
    const probe = await converter.probe(path, never);
    const to = join(folder, 'never.wav');
    const reason = new Error('called off');
    const request = { inputPath: path, outputPath: to, probe, maxSeconds: MAX_SECONDS };
    const signal = AbortSignal.abort(reason);
    await expect(converter.probe(path, signal)).rejects.toBe(reason);
    await expect(converter.convert(request, signal, () => undefined)).rejects.toBe(reason);
    await expect(stat(to)).rejects.toThrow('ENOENT');
  });

  it('kills ffmpeg when it is called off in the middle', async () => {
    // An hour of silence and more: far from done when the first progress is told.
    const path = await make(
      'hour.flac',
      ...['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono:d=6000', '-compression_level', '0'],
    );
    const probe = await converter.probe(path, never);
    const abort = new AbortController();
    const reason = new Error('called off');
    const request = { inputPath: path, outputPath, probe, maxSeconds: 100_000 };
    await expect(converter.convert(request, abort.signal, () => abort.abort(reason))).rejects.toBe(
      reason,
    );
    const { stdout } = await run('ps', ['-eo', 'args']);
    expect(stdout).not.toContain(path);
  });
});

const noise = (length: number, seed = 12_345): Buffer => {
  // A fixed sequence: what is random each time fails by chance each time.
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 16;
  }
  return bytes;
};
