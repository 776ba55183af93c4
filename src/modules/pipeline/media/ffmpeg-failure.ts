import { AppError } from '../../../common/errors/app-error';

/** The last words of a program say why it gave up; the rest is noise and may quote the file's tags. */
const LAST_WORDS = 300;

/** Below this ffprobe only guesses: such a file is not damaged sound but no sound at all. */
const GUESSED_SCORE = 25;

/** ffprobe could not read the file. */
export function probeFailure(stderr: string): AppError {
  const code = /moov atom not found/.test(stderr) ? 'corrupt_media' : 'not_media';
  return new AppError(code, { cause: lastWords(stderr) });
}

/** ffmpeg could read the container but not turn it into sound. */
export function conversionFailure(stderr: string, probeScore: number): AppError {
  if (/No space left on device|Disk quota exceeded/.test(stderr)) {
    return new AppError('storage_full', { cause: lastWords(stderr) });
  }
  if (/matches no streams/.test(stderr)) {
    return new AppError('no_audio_stream', { cause: lastWords(stderr) });
  }
  return new AppError(probeScore <= GUESSED_SCORE ? 'not_media' : 'corrupt_media', {
    cause: lastWords(stderr),
  });
}

/** The program itself is missing, may not be run, or was killed from outside. */
export const unavailable = (cause: unknown): AppError =>
  new AppError('converter_unavailable', { cause });

function lastWords(stderr: string): Error {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return new Error(line.replace(/file:\S+|'[^']*'/g, '…').slice(0, LAST_WORDS));
}
