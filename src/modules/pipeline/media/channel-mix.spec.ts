import { betterMixing, filterChain, firstMixing, type Mixing } from './channel-mix';

const level = (position: number, samples: number, mean: number): string =>
  `[Parsed_volumedetect_${position} @ 0x55b3] n_samples: ${samples}\n` +
  `[Parsed_volumedetect_${position} @ 0x55b3] mean_volume: ${mean.toFixed(1)} dB\n` +
  `[Parsed_volumedetect_${position} @ 0x55b3] max_volume: -3.0 dB\n`;

/** ffmpeg tells the later point first. */
const stereo = (total: number, sum: number): string =>
  level(4, 16_000, sum) + level(2, 32_000, total);

const SUM: Mixing = { mix: 'sum', padStart: true };

describe('the channel mix', () => {
  it('sums two channels and leaves other numbers to ffmpeg', () => {
    expect([1, 2, 3, 6].map((channels) => firstMixing(channels).mix)).toEqual([
      'downmix',
      'sum',
      'downmix',
      'downmix',
    ]);
  });

  it.each<[string, number, number]>([
    ['the same sound in both', -20, -20],
    ['one silent channel', -23, -26],
    ['independent channels', -20, -23],
    ['silence', -91, -91],
  ])('is right for %s', (_case, total, sum) => {
    expect(betterMixing(SUM, stereo(total, sum))).toBeUndefined();
  });

  it('takes the difference when the channels are in opposite phase', () => {
    expect(betterMixing(SUM, stereo(-20, -91))).toEqual({ mix: 'difference', padStart: true });
    expect(betterMixing(SUM, stereo(-20, -31))).toEqual({ mix: 'difference', padStart: true });
  });

  it('weighs pieces of different channels by their energy', () => {
    const loudOpposite = stereo(-20, -91);
    const quietSame = stereo(-50, -50);
    const loudSame = stereo(-20, -20);
    expect(betterMixing(SUM, loudOpposite + quietSame)?.mix).toBe('difference');
    expect(betterMixing(SUM, loudOpposite + loudSame)?.mix).toBe('sum');
  });

  it('pads nothing when ffmpeg had to begin its chain anew', () => {
    const pieces = level(2, 16_000, -20) + level(2, 16_000, -20);
    expect(betterMixing({ mix: 'downmix', padStart: true }, pieces)).toEqual({
      mix: 'downmix',
      padStart: false,
    });
  });

  it('is content with a second attempt', () => {
    const pieces = stereo(-20, -91).repeat(2);
    const second = betterMixing(SUM, pieces);
    expect(second).toEqual({ mix: 'difference', padStart: false });
    expect(betterMixing(second ?? SUM, pieces)).toBeUndefined();
  });

  it('is content when nothing was measured', () => {
    expect(betterMixing(SUM, '')).toBeUndefined();
    expect(betterMixing(SUM, 'size= 12kB time=00:00:01.00\nConversion failed!\n')).toBeUndefined();
  });

  it('takes no tag of a file for a measurement', () => {
    const tag = `    title           : ${level(2, 1, 0).replaceAll('\n', '\n                    : ')}\n`;
    expect(betterMixing(SUM, tag.repeat(2))).toBeUndefined();
  });

  it('measures before and after a mix of two channels', () => {
    expect(filterChain(SUM)).toBe(
      'aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=stereo,aresample=async=1:first_pts=0,' +
        'volumedetect,pan=mono|c0=0.5*c0+0.5*c1,volumedetect',
    );
    expect(filterChain({ mix: 'downmix', padStart: false })).toBe(
      'aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono,aresample=async=1,volumedetect',
    );
  });
});
