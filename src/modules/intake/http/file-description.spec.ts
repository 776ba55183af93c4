import {
  attachmentHeader,
  cleanFilename,
  cleanMediaType,
  servedMediaType,
} from './file-description';

describe('what the sender claims about the file', () => {
  it.each([
    ['заметка.ogg', 'заметка.ogg'],
    ['../../etc/passwd', '../../etc/passwd'],
    ['say %22hi%22%0D%0A.mp3', 'say "hi"\r\n.mp3'],
    ['100%.mp3', '100%.mp3'],
    ['a\u0000b', 'ab'],
    ['half \ud83d', 'half \ufffd'],
    ['   ', 'recording'],
    [undefined, 'recording'],
  ])('keeps the name %j as %j', (given, kept) => {
    expect(cleanFilename(given)).toBe(kept);
  });

  it('cuts a name without halving a character', () => {
    const kept = cleanFilename('😀'.repeat(2000));
    expect([...kept]).toHaveLength(1024);
    expect(kept.isWellFormed()).toBe(true);
  });

  it.each([
    ['Audio/OGG; codecs=opus', 'audio/ogg'],
    ['audio/x-m4a', 'audio/x-m4a'],
    ['<script>', 'application/octet-stream'],
    ['audio/', 'application/octet-stream'],
    [undefined, 'application/octet-stream'],
  ])('takes the media type %j for %s', (given, kept) => {
    expect(cleanMediaType(given)).toBe(kept);
  });

  it('hands nothing out under a type that a browser would run', () => {
    expect(servedMediaType('audio/ogg')).toBe('audio/ogg');
    expect(servedMediaType('video/mp4')).toBe('video/mp4');
    expect(servedMediaType('text/html')).toBe('application/octet-stream');
    expect(servedMediaType('image/svg+xml')).toBe('application/octet-stream');
  });

  it('writes a header that stays one header, whatever the name', () => {
    const header = attachmentHeader(`"a"\r\nset-cookie: x; 'ж' (1)*.mp3`);
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    const encoded = /UTF-8''(\S+)$/.exec(header)?.[1] ?? '';
    expect(decodeURIComponent(encoded)).toBe(`"a"\r\nset-cookie: x; 'ж' (1)*.mp3`);
  });
});
