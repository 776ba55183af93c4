import { FRAME_BYTES, frameEnergies } from './frame-energies';

/** A single quiet frame may be the closure of a "t" inside a word; 0.3 s of quiet is a pause. */
const PAUSE_FRAMES = 15;

/**
 * Where to cut `pcm` (16 kHz mono s16le) with the least harm: the byte offset of the middle of its quietest 0.3 s
 * at or after `from`. `pcm` must reach at least 0.3 s beyond `from`.
 */
export function quietestCut(pcm: Buffer, from: number): number {
  const energies = frameEnergies(pcm, from);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let first = 0; first + PAUSE_FRAMES <= energies.length; first += 1) {
    const energy = energies
      .slice(first, first + PAUSE_FRAMES)
      .reduce((sum, frame) => sum + frame, 0);
    if (energy < least) {
      least = energy;
      best = first;
    }
  }
  return from + Math.round(best + PAUSE_FRAMES / 2) * FRAME_BYTES;
}
