import { wavOf } from '../../../../test/support/speech-wav';
import { isSpeechHeader } from './pcm-format';

describe('isSpeechHeader', () => {
  const header = (): Buffer => wavOf(Buffer.alloc(2)).subarray(0, 44);

  it('knows 16 kHz mono s16le', () => {
    expect(isSpeechHeader(header())).toBe(true);
  });

  it.each([
    ['a float encoding', 20, 3],
    ['two channels', 22, 2],
    ['8 kHz', 24, 8000],
    ['8 bits', 34, 8],
    ['another chunk before the samples', 36, 0x494c],
  ])('refuses %s', (_what, offset, value) => {
    const other = header();
    other.writeUInt16LE(value, offset);
    expect(isSpeechHeader(other)).toBe(false);
  });

  it('refuses what is too short', () => {
    expect(isSpeechHeader(header().subarray(0, 43))).toBe(false);
    expect(isSpeechHeader(Buffer.alloc(0))).toBe(false);
  });
});
