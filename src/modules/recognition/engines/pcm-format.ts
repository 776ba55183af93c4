/** The one form of audio that engines are handed: 16 kHz mono s16le behind a 44-byte WAV header. */
export const SAMPLE_RATE = 16_000;
export const BYTES_PER_SAMPLE = 2;
export const BYTES_PER_SECOND = SAMPLE_RATE * BYTES_PER_SAMPLE;
export const HEADER_BYTES = 44;

/** Is this the header of such audio? Anything else would be heard as noise, not refused, by an engine. */
export function isSpeechHeader(header: Buffer): boolean {
  return (
    header.length >= HEADER_BYTES &&
    header.toString('latin1', 0, 4) === 'RIFF' &&
    header.toString('latin1', 8, 16) === 'WAVEfmt ' &&
    header.readUInt16LE(20) === 1 && // PCM
    header.readUInt16LE(22) === 1 && // mono
    header.readUInt32LE(24) === SAMPLE_RATE &&
    header.readUInt16LE(34) === 8 * BYTES_PER_SAMPLE &&
    header.toString('latin1', 36, 40) === 'data'
  );
}
