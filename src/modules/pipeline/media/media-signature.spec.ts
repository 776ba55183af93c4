import { isMediaHead } from './media-signature';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('how media begin', () => {
  it.each<[string, Buffer]>([
    ['WAV', bytes('RIFF\x24\0\0\0WAVEfmt ')],
    ['AVI', bytes('RIFF\x24\0\0\0AVI LIST')],
    ['AIFF', bytes('FORM\0\0\0\0AIFF')],
    ['Ogg', bytes('OggS\0\x02')],
    ['FLAC', bytes('fLaC\0')],
    ['MP3 with tags', bytes('ID3\x04')],
    ['MP3', Buffer.from('fffb9064', 'hex')],
    ['AAC', Buffer.from('fff15080', 'hex')],
    ['AMR', bytes('#!AMR\n')],
    ['Matroska', Buffer.from('1a45dfa3', 'hex')],
    ['WMA', Buffer.from('3026b2758e66cf11', 'hex')],
    ['M4A', bytes('\0\0\0\x20ftypM4A \0\0\x02\0')],
    ['MP4 of a phone', bytes('\0\0\0\x18ftypmp42')],
    ['QuickTime', bytes('\0\0\0\x08moov')],
  ])('%s', (_name, head) => {
    expect(isMediaHead(head)).toBe(true);
  });

  it.each<[string, Buffer]>([
    ['nothing', bytes('')],
    ['one byte', Buffer.from('ff', 'hex')],
    ['text', bytes('Hello, how are you')],
    ['text in UTF-16', Buffer.from('fffe48006500', 'hex')],
    ['a JPEG', Buffer.from('ffd8ffe000104a46', 'hex')],
    ['a PNG', Buffer.from('89504e470d0a1a0a', 'hex')],
    ['a WebP', bytes('RIFF\x24\0\0\0WEBPVP8 ')],
    ['a HEIC', bytes('\0\0\0\x18ftypheic')],
    ['an AVIF', bytes('\0\0\0\x18ftypavif')],
    ['a ZIP', bytes('PK\x03\x04')],
    ['a PDF', bytes('%PDF-1.4')],
    ['a playlist', bytes('#EXTM3U\n')],
  ])('not %s', (_name, head) => {
    expect(isMediaHead(head)).toBe(false);
  });
});
