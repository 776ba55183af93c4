/**
 * `downmix`: ffmpeg's own way to one channel. `sum` and `difference` are for two channels: half of left
 * plus, or minus, right. Opposite phases (a cable wired the wrong way) cancel out in the sum and are
 * whole in the difference.
 */
export type Mix = 'downmix' | 'sum' | 'difference';

export interface Mixing {
  readonly mix: Mix;
  /** Whether silence is put before sound that starts late, so that times in the audio are true. */
  readonly padStart: boolean;
}

/**
 * Share of the energy, in dB, that the sum may lose. Speech in one channel only or independent channels
 * cost 3 dB; 10 dB mean that nine tenths of the sound are in opposite phase.
 */
const CANCELLED_DB = 10;

const LAYOUT: Readonly<Record<Mix, string>> = {
  downmix: 'mono',
  // Files put together from pieces change to one channel in the middle; `pan` would fail on it.
  sum: 'stereo',
  difference: 'stereo',
};

const PAN: Readonly<Record<Mix, readonly string[]>> = {
  downmix: [],
  sum: ['pan=mono|c0=0.5*c0+0.5*c1', 'volumedetect'],
  difference: ['pan=mono|c0=0.5*c0-0.5*c1', 'volumedetect'],
};

/**
 * ffmpeg's filter chain. First the sound is made small: as whole numbers, or ffmpeg would add up more than
 * two channels until they clip, and as few of them as can be, for gaps in the timeline are then filled with
 * silence (`async`), which is held in memory. The levels are measured
 * on the way, before and after the mix, which costs a seventh more (for an hour of stereo MP3 3.9 s of
 * processor time instead of 3.4 s); a pass of its own would decode everything twice.
 */
export const filterChain = ({ mix, padStart }: Mixing): string =>
  [
    `aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=${LAYOUT[mix]}`,
    `aresample=async=1${padStart ? ':first_pts=0' : ''}`,
    'volumedetect',
    ...PAN[mix],
  ].join(',');

/** For the first attempt: what the number of channels asks for. */
export const firstMixing = (channels: number): Mixing => ({
  mix: channels === 2 ? 'sum' : 'downmix',
  padStart: true,
});

/**
 * How the conversion has to be done again after it reported its levels, or undefined when it was right.
 *
 * Whenever the sound's rate or channels change in the middle (joined MP3 files), ffmpeg begins a new
 * chain, and each pads from zero: six seconds became twelve. Then nothing is padded: joined files start
 * at once.
 */
export function betterMixing(used: Mixing, report: string): Mixing | undefined {
  const [before, after] = levels(report);
  const cancelled =
    used.mix === 'sum' &&
    before !== undefined &&
    after !== undefined &&
    decibels(before.energy / before.samples) - decibels(after.energy / after.samples) >
      CANCELLED_DB;
  const mix = cancelled ? 'difference' : used.mix;
  const padStart = used.padStart && (before?.chains ?? 1) === 1;
  return mix === used.mix && padStart === used.padStart ? undefined : { mix, padStart };
}

interface Level {
  chains: number;
  samples: number;
  energy: number;
}

const LEVEL =
  /^\[Parsed_volumedetect_(\d+) [^\]]*\] (?:n_samples: (?<samples>\d+)|mean_volume: (?<mean>-?[\d.]+) dB)$/gm;

/** What each measuring point heard in all chains together, in the order of the chain. */
function levels(report: string): Level[] {
  const points = new Map<number, Level>();
  let pending = 0;
  for (const { 1: position, groups } of report.matchAll(LEVEL)) {
    if (groups?.['samples'] !== undefined) {
      pending = Number(groups['samples']);
      continue;
    }
    const point = points.get(Number(position)) ?? { chains: 0, samples: 0, energy: 0 };
    point.chains += 1;
    point.samples += pending;
    point.energy += pending * 10 ** (Number(groups?.['mean']) / 10);
    points.set(Number(position), point);
  }
  return [...points].sort(([a], [b]) => a - b).map(([, level]) => level);
}

const decibels = (power: number): number => 10 * Math.log10(power);
