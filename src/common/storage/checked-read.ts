import { Readable } from 'node:stream';
import { AppError } from '../errors/app-error';
import { storageFailure } from './storage-failure';

/**
 * The bytes of `body` as a stream that fails with an AppError, and that fails rather than ends when
 * fewer or more than `expectedBytes` came: half a recording must never look like a whole one.
 */
export function checkedRead(body: Readable, expectedBytes: number): Readable {
  const checked = Readable.from(check(body, expectedBytes), { objectMode: false });
  // The body may fail before anybody reads; the loop meets that error when it starts.
  body.on('error', () => undefined);
  // A reader that leaves before its first read never starts the loop that would close the body.
  checked.once('close', () => body.destroy());
  return checked;
}

async function* check(body: Readable, expectedBytes: number): AsyncGenerator<Buffer> {
  let seen = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      seen += piece.length;
      yield piece;
    }
  } catch (error) {
    throw storageFailure(error);
  }
  if (seen !== expectedBytes) {
    throw new AppError('storage_unavailable', {
      cause: new Error(`a blob gave ${seen} bytes of ${expectedBytes}`),
    });
  }
}
