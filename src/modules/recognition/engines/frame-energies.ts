import { BYTES_PER_SAMPLE, BYTES_PER_SECOND } from './pcm-format';

export const FRAME_SECONDS = 0.02;
export const FRAME_BYTES = FRAME_SECONDS * BYTES_PER_SECOND;
export const FRAME_SAMPLES = FRAME_BYTES / BYTES_PER_SAMPLE;

/** Sums of the squared samples of each whole frame of `pcm` (s16le) from the byte `from` on. */
export function frameEnergies(pcm: Buffer, from = 0): number[] {
  const energies: number[] = [];
  for (let start = from; start + FRAME_BYTES <= pcm.length; start += FRAME_BYTES) {
    let energy = 0;
    for (let offset = start; offset < start + FRAME_BYTES; offset += BYTES_PER_SAMPLE) {
      energy += pcm.readInt16LE(offset) ** 2;
    }
    energies.push(energy);
  }
  return energies;
}
