import type { Downmix } from './ffmpeg-arguments';

/**
 * One silent channel costs the sum 6 dB, independent channels 3 dB. Only channels in opposite phase
 * cost more: then the sum would be silence, and the louder channel is taken alone.
 */
const CANCELLED_DB = 12;
const SILENCE_DB = -1000;

/** Chooses the downmix from the output of `levelArguments`; anything unexpected means the plain mix. */
export function chooseDownmix(report: string): Downmix {
  const levels = [
    ...report.matchAll(/Parsed_astats_(\d+)[^\n]*RMS level dB: (-?[\d.]+|-?inf|nan)/g),
  ]
    .map(([, instance, level]) => ({ instance: Number(instance), level: decibels(level) }))
    .sort((a, b) => a.instance - b.instance)
    .map(({ level }) => level);
  const [left, right, sum] = levels;
  if (left === undefined || right === undefined || sum === undefined) {
    return 'mix';
  }
  const louder = Math.max(left, right);
  if (louder - sum < CANCELLED_DB) {
    return 'mix';
  }
  return left >= right ? 'left' : 'right';
}

function decibels(text: string | undefined): number {
  const value = Number(text);
  return Number.isFinite(value) ? value : SILENCE_DB;
}
