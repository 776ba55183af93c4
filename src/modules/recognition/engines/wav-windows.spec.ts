import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wavOf } from '../../../../test/support/speech-wav';
import { wavWindows, type WavWindow } from './wav-windows';

const RATE = 16_000;

interface Quiet {
  readonly from: number;
  readonly to: number;
  readonly level: number;
}

/** A square wave that also counts, so that a lost or doubled sample shows; softer where `quiet` says. */
function sound(seconds: number, quiet: readonly Quiet[] = []): Buffer {
  const samples = Math.round(seconds * RATE);
  const pcm = Buffer.alloc(samples * 2);
  for (let index = 0; index < samples; index += 1) {
    const second = index / RATE;
    const soft = quiet.find(({ from, to }) => second >= from && second < to);
    const level = soft?.level ?? 8000 + (index % 4001);
    pcm.writeInt16LE(index % 20 < 10 ? level : -level, index * 2);
  }
  return pcm;
}

/** Nothing lost, nothing doubled, none longer than a minute, times as the bytes say. */
function expectWhole(windows: readonly WavWindow[], pcm: Buffer): void {
  expect(Buffer.concat(windows.map((window) => window.pcm)).equals(pcm)).toBe(true);
  let end = 0;
  for (const { startSeconds, endSeconds, pcm: part } of windows) {
    expect(startSeconds).toBe(end);
    expect(endSeconds - startSeconds).toBeCloseTo(part.length / 2 / RATE, 9);
    expect(endSeconds - startSeconds).toBeLessThanOrEqual(60);
    end = endSeconds;
  }
}

describe('windows of a WAV', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wav-windows-'));
    path = join(folder, 'audio.wav');
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Windows of the file; their samples are copied, because they are valid only until the next. */
  const read = async (afterEach = async (): Promise<void> => undefined): Promise<WavWindow[]> => {
    const windows: WavWindow[] = [];
    for await (const window of wavWindows(path)) {
      windows.push({ ...window, pcm: Buffer.from(window.pcm) });
      await afterEach();
    }
    return windows;
  };

  const windowsOf = async (pcm: Buffer): Promise<WavWindow[]> => {
    await writeFile(path, wavOf(pcm));
    return read();
  };

  it('gives none for a file of a header only', async () => {
    expect(await windowsOf(Buffer.alloc(0))).toEqual([]);
  });

  it('gives short audio as one window', async () => {
    const pcm = sound(2.5);
    const windows = await windowsOf(pcm);
    expect(windows).toHaveLength(1);
    expect(windows[0]).toMatchObject({ startSeconds: 0, endSeconds: 2.5 });
    expectWhole(windows, pcm);
  });

  it('gives a single sample', async () => {
    const pcm = Buffer.from([1, 2]);
    expectWhole(await windowsOf(pcm), pcm);
  });

  it.each([1, 32_001, 32_000 * 61 + 1])(
    'leaves out half a sample at the end of %d bytes',
    async (bytes) => {
      const pcm = Buffer.alloc(bytes, 7);
      expectWhole(await windowsOf(pcm), pcm.subarray(0, bytes - 1));
    },
  );

  it.each([59.99, 60, 60 + 1 / RATE, 119.5, 190.3])(
    'loses and doubles nothing of %d s',
    async (seconds) => {
      const pcm = sound(seconds);
      const windows = await windowsOf(pcm);
      expectWhole(windows, pcm);
      expect(windows.length).toBeGreaterThanOrEqual(Math.ceil(seconds / 60));
    },
  );

  it('cuts at the quietest moment near the end of a window', async () => {
    const windows = await windowsOf(
      sound(90, [
        { from: 20, to: 21, level: 0 }, // quieter, but too early
        { from: 48, to: 48.4, level: 300 },
        { from: 55, to: 55.4, level: 30 },
      ]),
    );
    expect(windows).toHaveLength(2);
    expect(windows[0]?.endSeconds).toBeGreaterThan(55);
    expect(windows[0]?.endSeconds).toBeLessThan(55.4);
  });

  it('cuts in a pause rather than in the stop of a consonant, which is quieter but short', async () => {
    const windows = await windowsOf(
      sound(90, [
        { from: 47, to: 47.06, level: 0 },
        { from: 52, to: 52.5, level: 40 },
      ]),
    );
    expect(windows[0]?.endSeconds).toBeGreaterThan(52);
    expect(windows[0]?.endSeconds).toBeLessThan(52.5);
  });

  it('ends where a file ends that has become shorter while it is read', async () => {
    const pcm = sound(130);
    await writeFile(path, wavOf(pcm));
    const windows = await read(() => truncate(path, 44 + 100 * RATE * 2));
    expectWhole(windows, pcm.subarray(0, 100 * RATE * 2));
  });

  it('says that the audio is missing when there is no file', async () => {
    await expect(read()).rejects.toMatchObject({ code: 'audio_missing' });
  });

  it.each([
    ['a file shorter than a header', Buffer.from('RIFF')],
    ['something that is no WAV', Buffer.alloc(1000, 'ID3 ')],
    ['a WAV of another rate', wavWith(Buffer.alloc(1000), 24, 8000)],
    ['a stereo WAV', wavWith(Buffer.alloc(1000), 22, 2)],
  ])('refuses %s, which would be heard as noise', async (_what, bytes) => {
    await writeFile(path, bytes);
    await expect(read()).rejects.toMatchObject({ code: 'corrupt_media' });
  });
});

function wavWith(pcm: Buffer, offset: number, value: number): Buffer {
  const wav = wavOf(pcm);
  wav.writeUInt16LE(value, offset);
  return wav;
}
