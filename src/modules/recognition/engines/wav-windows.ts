import { open, writeFile } from 'node:fs/promises';

const HEADER_BYTES = 44;
const SAMPLE_RATE = 16_000;
const BYTES_PER_SAMPLE = 2;
const BYTES_PER_SECOND = SAMPLE_RATE * BYTES_PER_SAMPLE;

const LONGEST_SECONDS = 60;
/** The cut is looked for in the last part of a window. */
const SEARCH_SECONDS = 15;
const FRAME_BYTES = 0.02 * BYTES_PER_SECOND;

export interface WavWindow {
  /** Seconds from the start of the whole audio. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Samples of this window, s16le. */
  readonly pcm: Buffer;
}

/**
 * Cuts a 16 kHz mono s16le WAV (44-byte header) into windows of a minute at most, each at the quietest
 * moment near its end, so that no word is cut in two. One window is in memory at a time.
 */
export async function* wavWindows(path: string): AsyncGenerator<WavWindow> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const total = Math.max(0, size - HEADER_BYTES);
    const buffer = Buffer.alloc(LONGEST_SECONDS * BYTES_PER_SECOND);
    for (let start = 0; start + BYTES_PER_SAMPLE <= total;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, HEADER_BYTES + start);
      if (bytesRead === 0) {
        return;
      }
      const last = start + bytesRead >= total;
      const length = last ? bytesRead - (bytesRead % BYTES_PER_SAMPLE) : quietestCut(buffer);
      yield {
        startSeconds: start / BYTES_PER_SECOND,
        endSeconds: (start + length) / BYTES_PER_SECOND,
        pcm: buffer.subarray(0, length),
      };
      start += last ? bytesRead : length;
    }
  } finally {
    await file.close();
  }
}

/** Writes a window as a WAV file of its own. */
export async function writeWav(path: string, pcm: Buffer): Promise<void> {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + pcm.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // mono
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(BYTES_PER_SECOND, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write('data', 36);
  header.writeUInt32LE(pcm.length, 40);
  await writeFile(path, Buffer.concat([header, pcm]));
}

/** Byte offset of the middle of the quietest frame in the search part. */
function quietestCut(pcm: Buffer): number {
  let best = pcm.length;
  let least = Number.POSITIVE_INFINITY;
  const from = pcm.length - SEARCH_SECONDS * BYTES_PER_SECOND;
  for (let frame = from; frame + FRAME_BYTES <= pcm.length; frame += FRAME_BYTES) {
    const energy = frameEnergy(pcm, frame);
    if (energy < least) {
      least = energy;
      best = frame + FRAME_BYTES / 2;
    }
  }
  return best;
}

function frameEnergy(pcm: Buffer, start: number): number {
  let energy = 0;
  for (let offset = start; offset < start + FRAME_BYTES; offset += BYTES_PER_SAMPLE) {
    energy += pcm.readInt16LE(offset) ** 2;
  }
  return energy;
}
