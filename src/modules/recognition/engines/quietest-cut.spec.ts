import { quietestCut } from './quietest-cut';

const RATE = 16_000;
const BYTES_PER_SECOND = RATE * 2;

/** A square wave of 10 s that is quieter where `quiet` says, in seconds. */
function sound(quiet: readonly { from: number; to: number; level: number }[]): Buffer {
  const pcm = Buffer.alloc(10 * BYTES_PER_SECOND);
  for (let index = 0; index < pcm.length / 2; index += 1) {
    const second = index / RATE;
    const level = quiet.find(({ from, to }) => second >= from && second < to)?.level ?? 8000;
    pcm.writeInt16LE(index % 20 < 10 ? level : -level, index * 2);
  }
  return pcm;
}

const cutSecond = (pcm: Buffer, fromSecond: number): number =>
  quietestCut(pcm, fromSecond * BYTES_PER_SECOND) / BYTES_PER_SECOND;

describe('quietestCut', () => {
  it('cuts in the middle of the quietest pause', () => {
    const pcm = sound([
      { from: 2, to: 3, level: 100 },
      { from: 5, to: 5.3, level: 10 },
    ]);
    expect(cutSecond(pcm, 0)).toBeCloseTo(5.15, 1);
  });

  it('does not look before the given place', () => {
    const pcm = sound([
      { from: 2, to: 3, level: 0 },
      { from: 8, to: 8.4, level: 100 },
    ]);
    expect(cutSecond(pcm, 5)).toBeGreaterThan(8);
    expect(cutSecond(pcm, 5)).toBeLessThan(8.4);
  });

  it('prefers a pause to the quieter but shorter closure of a consonant', () => {
    const pcm = sound([
      { from: 2, to: 2.06, level: 0 },
      { from: 7, to: 7.5, level: 40 },
    ]);
    expect(cutSecond(pcm, 0)).toBeGreaterThan(7);
  });

  it('cuts between two samples, within the audio, also where nothing is quiet', () => {
    const offset = quietestCut(sound([]), BYTES_PER_SECOND);
    expect(offset % 2).toBe(0);
    expect(offset).toBeGreaterThan(BYTES_PER_SECOND);
    expect(offset).toBeLessThanOrEqual(10 * BYTES_PER_SECOND);
  });
});
