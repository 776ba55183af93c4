import { AppError } from '../../../common/errors/app-error';
import { fileUrl } from './ffmpeg-arguments';

/** The last words of a program say why it gave up; the rest is noise and may quote the file's tags. */
const LAST_WORDS = 300;

/**
 * The program or its machine, not the file: a library is missing, the build is too old for our options,
 * there is no memory. "Input/output error" is not among them: ffmpeg says it of files that end early.
 */
const PROGRAM_AT_FAULT =
  /error while loading shared libraries|Unrecognized option|Option not found|Cannot allocate memory|Too many open files|Resource temporarily unavailable/;

/** A shell's way to say that a program cannot be run or is not there; wrapper scripts use it. */
const NOT_RUNNABLE = [126, 127];

/**
 * ffmpeg's own ways to end when somebody else sent it SIGTERM, SIGINT or SIGXCPU, as a machine does that
 * is switched off: it catches them, so it is not killed by them and nothing is wrong with the file.
 */
const ENDED_BY_SIGNAL = [255, 123];

const NO_FAULT_OF_THE_FILE = new Set<number | null>([...NOT_RUNNABLE, ...ENDED_BY_SIGNAL]);

/** Before it ffmpeg quotes the tags of the input, afterwards it speaks for itself. */
const MAPPING = '\nStream mapping:\n';

/** Lines that begin with a space quote the values of tags. */
const WRITING =
  /^(?!\s).*(?:av_interleaved_write_frame|Error (?:writing trailer|closing file|muxing|submitting a packet to the muxer|opening output))/;
const FULL = /No space left on device|Disk quota exceeded/;

export interface FailedRun {
  readonly exitCode: number | null;
  readonly stderr: string;
}

/**
 * What ffmpeg said itself. The names of tags are quoted as they are: with line ends in them a file could
 * say that the disk is full, or how loud it is. (When it came to no mapping, nothing was written.)
 */
export const ownWords = (stderr: string): string =>
  stderr.slice(Math.max(0, stderr.lastIndexOf(MAPPING)));

/** Why a program could not read a file that is there; `looksLikeMedia` tells damage from other files. */
export function readingFailure(run: FailedRun, looksLikeMedia: boolean): AppError {
  const cause = lastWords(run.stderr);
  if (
    run.stderr.trim() === '' ||
    NO_FAULT_OF_THE_FILE.has(run.exitCode) ||
    PROGRAM_AT_FAULT.test(run.stderr)
  ) {
    return unavailable(cause);
  }
  return new AppError(looksLikeMedia ? 'corrupt_media' : 'not_media', { cause });
}

/**
 * Why the output could not be written, or undefined when it could. To be asked after success too: when
 * only the last bytes do not fit, ffmpeg 5 says so and still ends with 0.
 */
export function writingFailure(stderr: string, outputPath: string): AppError | undefined {
  const line = stderr
    .split('\n')
    .find((text) => WRITING.test(text) || text.startsWith(`${fileUrl(outputPath)}: `));
  if (line === undefined) {
    return undefined;
  }
  return new AppError(FULL.test(line) ? 'storage_full' : 'storage_unavailable', {
    cause: lastWords(line),
  });
}

/** The program is missing, may not be run, was killed from outside, or is broken. */
export const unavailable = (cause: unknown): AppError =>
  new AppError('converter_unavailable', { cause });

function lastWords(stderr: string): Error {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return new Error(line.replace(/file:\S+|'[^']*'/g, '…').slice(0, LAST_WORDS));
}
