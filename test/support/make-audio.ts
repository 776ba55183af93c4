import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A WAV file in which flite says `text`. */
export async function speech(folder: string, text: string, name = 'speech.wav'): Promise<string> {
  const path = join(folder, name);
  await run('flite', ['-voice', 'slt', '-t', text, '-o', path]);
  return path;
}

/** Audio made by ffmpeg's own sources, in the format that the name's ending says. */
export async function generated(folder: string, name: string, ...args: string[]): Promise<string> {
  const path = join(folder, name);
  await run('ffmpeg', ['-v', 'error', '-y', ...args, path]);
  return path;
}

/** A WAV of a sine tone. */
export const tone = (folder: string, seconds: number, name = 'tone.wav'): Promise<string> =>
  generated(folder, name, '-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`);

/** A WAV of digital silence. */
export const silence = (folder: string, seconds: number, name = 'silence.wav'): Promise<string> =>
  generated(folder, name, '-f', 'lavfi', '-i', `anullsrc=r=16000:cl=mono:d=${seconds}`);
