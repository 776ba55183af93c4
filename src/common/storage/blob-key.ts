import { AppError } from '../errors/app-error';

const WORD = '[a-z0-9_-][a-z0-9._-]*';
const KEY = new RegExp(`^${WORD}(?:/${WORD})*$`);
const PREFIX = new RegExp(`^(?:${WORD}/)*[a-z0-9._-]*$`);
/** Below the 255 bytes a file name may have, whatever the words are. */
const LONGEST_KEY = 255;

/** Words of `[a-z0-9._-]` that do not begin with a dot, joined with '/', without '..' anywhere. */
export function isBlobKey(text: string): boolean {
  return text.length <= LONGEST_KEY && KEY.test(text) && !text.includes('..');
}

/** @throws AppError `internal`: keys are ours, so a bad one is a fault of the program */
export function assertBlobKey(key: string): void {
  if (!isBlobKey(key)) {
    throw new AppError('internal', { cause: new Error('a blob key is not valid') });
  }
}

/** The beginning of a key, also in the middle of a word; empty means every key. @throws AppError `internal` */
export function assertBlobKeyPrefix(prefix: string): void {
  if (prefix.length > LONGEST_KEY || !PREFIX.test(prefix) || prefix.includes('..')) {
    throw new AppError('internal', { cause: new Error('a blob key prefix is not valid') });
  }
}
