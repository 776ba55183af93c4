import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimedWavFactor } from './claimed-wav-length';

describe('claimedWavFactor', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wav-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const factorOf = async (riffSize: number, fileSize: number, form = 'WAVE'): Promise<number> => {
    const bytes = Buffer.alloc(fileSize);
    bytes.write('RIFF', 0);
    bytes.writeUInt32LE(riffSize, 4);
    bytes.write(form, 8);
    await writeFile(join(folder, 'a.wav'), bytes);
    return claimedWavFactor(join(folder, 'a.wav'));
  };

  it.each([
    ['a whole file', 992, 1000, 1],
    ['a file cut in half', 1992, 1000, 2],
    ['a file with more behind the sound', 492, 1000, 1],
    ['a stream of unknown length', 0xffff_ffff, 1000, 1],
    ['a stream of unknown length, signed', 0x7fff_ffdb, 1000, 1],
  ])('of %s', async (_what, riffSize, fileSize, factor) => {
    expect(await factorOf(riffSize, fileSize)).toBe(factor);
  });

  it('is 1 for what is no WAV, or too short to say', async () => {
    expect(await factorOf(5000, 1000, 'AVI ')).toBe(1);
    await writeFile(join(folder, 'short'), 'RIFF');
    expect(await claimedWavFactor(join(folder, 'short'))).toBe(1);
  });
});
