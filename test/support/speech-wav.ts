import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generated, speech } from './make-audio';

const HEADER_BYTES = 44;
const SAMPLE_RATE = 16_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
/** Softer than this is no voice; flite's pauses are softer. */
const VOICE = 300;

/** What engines are handed: 16 kHz mono s16le behind a header of 44 bytes. */
export interface SpeechWav {
  readonly audioPath: string;
  readonly durationSeconds: number;
}

export const secondsOf = (pcm: Buffer): number => pcm.length / BYTES_PER_SECOND;

/** Samples of digital silence. */
export const quiet = (seconds: number): Buffer =>
  Buffer.alloc(Math.round(seconds * SAMPLE_RATE) * 2);

/** A canonical WAV of these samples. */
export function wavOf(pcm: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(HEADER_BYTES - 8 + pcm.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // mono
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(BYTES_PER_SECOND, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([header, pcm]);
}

export async function speechWav(folder: string, name: string, pcm: Buffer): Promise<SpeechWav> {
  const audioPath = join(folder, name);
  await writeFile(audioPath, wavOf(pcm));
  return { audioPath, durationSeconds: secondsOf(pcm) };
}

/** Samples of any audio file, in the form that engines are handed. */
export async function samplesOf(folder: string, audioPath: string): Promise<Buffer> {
  const converted = await generated(
    folder,
    'converted.wav',
    ...['-i', audioPath, '-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le'],
    ...['-map_metadata', '-1', '-bitexact'],
  );
  return (await readFile(converted)).subarray(HEADER_BYTES);
}

/** Samples in which flite says `text`. */
export const spoken = async (folder: string, text: string): Promise<Buffer> =>
  samplesOf(folder, await speech(folder, text, 'flite.wav'));

/** When the voice begins and ends, in seconds: the truth that an engine's times are held against. */
export function voiceIn(pcm: Buffer): { readonly from: number; readonly to: number } {
  let first = -1;
  let last = -1;
  for (let offset = 0; offset + 2 <= pcm.length; offset += 2) {
    if (Math.abs(pcm.readInt16LE(offset)) > VOICE) {
      first = first < 0 ? offset : first;
      last = offset;
    }
  }
  if (first < 0) {
    throw new Error('nobody speaks');
  }
  return { from: first / BYTES_PER_SECOND, to: last / BYTES_PER_SECOND };
}
