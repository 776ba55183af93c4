import { open } from 'node:fs/promises';

const HEADER_BYTES = 12;
const RIFF_PREFIX_BYTES = 8;
/** Writers that cannot go back, to a pipe for example, leave a size near one of the two maxima. */
const UNKNOWN_SIZE = 0x7fff_0000;

/**
 * By which factor a WAV file claims to be longer than it is, at least 1. ffprobe takes the length of a
 * WAV from the size of the file, so a file that broke off would pass for a whole one; its header still
 * says how many bytes there should be.
 */
export async function claimedWavFactor(path: string): Promise<number> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const isWav =
      bytesRead === HEADER_BYTES &&
      buffer.toString('latin1', 0, 4) === 'RIFF' &&
      buffer.toString('latin1', 8, 12) === 'WAVE';
    const claimed = isWav ? buffer.readUInt32LE(4) : UNKNOWN_SIZE;
    if (claimed >= UNKNOWN_SIZE) {
      return 1;
    }
    const { size } = await file.stat();
    return Math.max(1, (claimed + RIFF_PREFIX_BYTES) / size);
  } finally {
    await file.close();
  }
}
