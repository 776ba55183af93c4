import { soundingStretches } from './sounding-stretches';

const RATE = 16_000;

interface Part {
  readonly seconds: number;
  readonly level: number;
}

/** Noise of these amplitudes, one part after the other; the same each time. */
function noise(...parts: readonly Part[]): Buffer {
  let state = 1;
  return Buffer.concat(
    parts.map(({ seconds, level }) => {
      const pcm = Buffer.alloc(Math.round(seconds * RATE) * 2);
      for (let offset = 0; offset < pcm.length; offset += 2) {
        state = (state * 48_271) % 2_147_483_647;
        pcm.writeInt16LE(Math.round((2 * (state / 2_147_483_647) - 1) * level), offset);
      }
      return pcm;
    }),
  );
}

const stretchesOf = (pcm: Buffer): number[][] =>
  soundingStretches(pcm).map(({ from, to }) => [from / 2 / RATE, to / 2 / RATE]);

const expectAbout = (found: number[][], expected: number[][]): void => {
  expect(found).toHaveLength(expected.length);
  for (const [index, [from, to]] of expected.entries()) {
    expect(found[index]?.[0]).toBeCloseTo(from ?? 0, 1);
    expect(found[index]?.[1]).toBeCloseTo(to ?? 0, 1);
  }
};

describe('soundingStretches', () => {
  const room = 100;
  const voice = 5000;

  it('finds none in digital silence and none in nothing', () => {
    expect(soundingStretches(Buffer.alloc(RATE * 20))).toEqual([]);
    expect(soundingStretches(Buffer.alloc(0))).toEqual([]);
  });

  it('finds none in the faint hiss of a quiet room', () => {
    expect(stretchesOf(noise({ seconds: 5, level: 10 }))).toEqual([]);
  });

  it('finds the voice between pauses, with a margin', () => {
    const pcm = noise(
      { seconds: 2, level: room },
      { seconds: 3, level: voice },
      { seconds: 2, level: room },
      { seconds: 1, level: voice },
      { seconds: 2, level: room },
    );
    expectAbout(stretchesOf(pcm), [
      [1.76, 5.24],
      [6.76, 8.24],
    ]);
  });

  it('finds the voice in digital silence', () => {
    const pcm = noise(
      { seconds: 10, level: 0 },
      { seconds: 1, level: voice },
      { seconds: 10, level: 0 },
    );
    expectAbout(stretchesOf(pcm), [[9.76, 11.24]]);
  });

  it('keeps what is said with short pauses in one stretch', () => {
    const pcm = noise(
      { seconds: 2, level: room },
      { seconds: 1, level: voice },
      { seconds: 0.4, level: room },
      { seconds: 1, level: voice },
      { seconds: 2, level: room },
    );
    expectAbout(stretchesOf(pcm), [[1.76, 4.64]]);
  });

  it('stays within the audio and keeps its last samples', () => {
    const pcm = noise(
      { seconds: 1, level: voice },
      { seconds: 2, level: room },
      { seconds: 1.003, level: voice },
    );
    const stretches = soundingStretches(pcm);
    expect(stretches[0]?.from).toBe(0);
    expect(stretches.at(-1)?.to).toBe(pcm.length);
  });

  it('does not take a click for sound', () => {
    const pcm = noise(
      { seconds: 3, level: room },
      { seconds: 0.02, level: 20_000 },
      { seconds: 3, level: room },
    );
    expect(stretchesOf(pcm)).toEqual([]);
  });

  it('gives steady sound as a whole, because it may be speech', () => {
    const pcm = noise({ seconds: 4, level: voice });
    expect(soundingStretches(pcm)).toEqual([{ from: 0, to: pcm.length }]);
  });

  it('gives a short word without any silence around it', () => {
    const pcm = noise({ seconds: 0.2, level: voice / 2 }, { seconds: 0.2, level: voice });
    expect(soundingStretches(pcm)).toEqual([{ from: 0, to: pcm.length }]);
  });

  it('finds a soft voice where a loud one spoke before', () => {
    const pcm = noise(
      { seconds: 2, level: room },
      { seconds: 2, level: 20_000 },
      { seconds: 2, level: room },
      { seconds: 2, level: 5 * room },
      { seconds: 2, level: room },
    );
    expectAbout(stretchesOf(pcm), [
      [1.76, 4.24],
      [5.76, 8.24],
    ]);
  });

  it('gives stretches that do not overlap and rise', () => {
    const pcm = noise(
      ...Array.from({ length: 20 }, (_, index) => [
        { seconds: 0.5 + (index % 5) / 50, level: room },
        { seconds: 0.3, level: voice },
      ]).flat(),
    );
    const stretches = soundingStretches(pcm);
    expect(stretches.length).toBeGreaterThan(1);
    for (const [index, { from, to }] of stretches.entries()) {
      expect(to).toBeGreaterThan(from);
      expect(from).toBeGreaterThanOrEqual(stretches[index - 1]?.to ?? 0);
    }
  });
});
