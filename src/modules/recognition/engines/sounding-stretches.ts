import { FRAME_BYTES, FRAME_SAMPLES, FRAME_SECONDS, frameEnergies } from './frame-energies';

const frames = (seconds: number): number => Math.round(seconds / FRAME_SECONDS);

/** Shorter quiet belongs to the speech around it. */
const PAUSE_FRAMES = frames(0.5);
/** Kept on both sides, because words begin and end softly. */
const MARGIN_FRAMES = frames(0.24);
/** Less sound is a click. */
const SHORTEST_FRAMES = frames(0.1);
/** The level of the room is that which the quietest tenth of the frames does not exceed. */
const ROOM_SHARE = 0.1;
/** Amplitude: 3 is 9.5 dB above the room. At 2 noise passed for sound, measured on pink noise. */
const ABOVE_ROOM = 3;
/** Amplitude. So what is as loud as a third of the loudest is never taken for the room. */
const BELOW_LOUDEST = 3;
/** Amplitude of the softest sound, where the room is digitally silent: -70 dBFS. */
const SOFTEST = 10;

export interface Stretch {
  /** Bytes from the start of the samples. */
  readonly from: number;
  readonly to: number;
}

/**
 * The stretches of `pcm` (s16le) in which there is sound above the level of the room, between pauses
 * of half a second or more; none in silence. Steady sound is one stretch: whether it is speech is
 * for the engine to say.
 */
export function soundingStretches(pcm: Buffer): Stretch[] {
  const energies = frameEnergies(pcm);
  const threshold = soundEnergy(energies);
  const stretches: { first: number; last: number; sounding: number }[] = [];
  for (const [frame, energy] of energies.entries()) {
    if (energy <= threshold) {
      continue;
    }
    const current = stretches.at(-1);
    if (current !== undefined && frame - current.last <= PAUSE_FRAMES) {
      current.last = frame;
      current.sounding += 1;
    } else {
      stretches.push({ first: frame, last: frame, sounding: 1 });
    }
  }
  return stretches
    .filter(({ sounding }) => sounding >= SHORTEST_FRAMES)
    .map(({ first, last }) => ({
      from: Math.max(0, first - MARGIN_FRAMES) * FRAME_BYTES,
      to: Math.min(pcm.length, (last + 1 + MARGIN_FRAMES) * FRAME_BYTES),
    }));
}

/** Energy of a frame that counts as sound when it exceeds it. */
function soundEnergy(energies: readonly number[]): number {
  const rising = [...energies].sort((a, b) => a - b);
  const room = rising[Math.floor(rising.length * ROOM_SHARE)] ?? 0;
  const loudest = rising.at(-1) ?? 0;
  return Math.max(
    SOFTEST ** 2 * FRAME_SAMPLES,
    Math.min(room * ABOVE_ROOM ** 2, loudest / BELOW_LOUDEST ** 2),
  );
}
