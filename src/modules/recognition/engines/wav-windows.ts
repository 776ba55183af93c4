import { open, type FileHandle } from 'node:fs/promises';
import { AppError } from '../../../common/errors/app-error';
import { isMissing, storageFailure, storing } from '../../../common/storage/storage-failure';
import { BYTES_PER_SAMPLE, BYTES_PER_SECOND, HEADER_BYTES, isSpeechHeader } from './pcm-format';
import { quietestCut } from './quietest-cut';

const LONGEST_BYTES = 60 * BYTES_PER_SECOND;
/** The cut is looked for in the last part of a window. */
const SEARCH_BYTES = 15 * BYTES_PER_SECOND;

export interface WavWindow {
  /** Seconds from the start of the whole audio. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Samples of this window, s16le; valid until the next window is asked for. */
  readonly pcm: Buffer;
}

/**
 * Cuts a 16 kHz mono s16le WAV (44-byte header) into windows of a minute at most, each in a pause near
 * its end, so that no word is cut in two. One window is in memory at a time.
 * @throws AppError `audio_missing`, `corrupt_media` when it is not such a file, `storage_unavailable`
 */
export async function* wavWindows(path: string): AsyncGenerator<WavWindow> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw isMissing(cause) ? new AppError('audio_missing', { cause }) : storageFailure(cause);
  });
  try {
    const header = await storing(read(file, Buffer.alloc(HEADER_BYTES), 0));
    if (!isSpeechHeader(header)) {
      throw new AppError('corrupt_media', { detail: 'The converted audio is damaged' });
    }
    const { size } = await storing(file.stat());
    const buffer = Buffer.alloc(LONGEST_BYTES);
    for (let start = 0; ;) {
      const heard = await storing(read(file, buffer, HEADER_BYTES + start));
      const last = heard.length < buffer.length || HEADER_BYTES + start + heard.length >= size;
      const length = last
        ? heard.length - (heard.length % BYTES_PER_SAMPLE)
        : quietestCut(heard, LONGEST_BYTES - SEARCH_BYTES);
      if (length > 0) {
        yield {
          startSeconds: start / BYTES_PER_SECOND,
          endSeconds: (start + length) / BYTES_PER_SECOND,
          pcm: heard.subarray(0, length),
        };
      }
      if (last) {
        return;
      }
      start += length;
    }
  } finally {
    await file.close();
  }
}

/** Fills `buffer` from `position`; the answer is shorter only at the end of the file. */
async function read(file: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const rest = buffer.length - filled;
    const { bytesRead } = await file.read(buffer, filled, rest, position + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
