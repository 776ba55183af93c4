import { assertBlobKey, assertBlobKeyPrefix, isBlobKey } from './blob-key';

describe('blob key', () => {
  it.each(['a', 'a/b', '0b.x_y-z/c.wav', 'a'.repeat(255)])('accepts %j', (key) => {
    expect(isBlobKey(key)).toBe(true);
    expect(() => assertBlobKey(key)).not.toThrow();
  });

  it.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    '../a',
    'a/../b',
    'a..b',
    './a',
    'a/.hidden',
    'A',
    'a b',
    'ä',
    'a\\b',
    'a\0',
    'a\n',
    'a%2fb',
    'a'.repeat(256),
  ])('refuses %j without repeating it', (key) => {
    expect(isBlobKey(key)).toBe(false);
    expect(() => assertBlobKey(key)).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  it.each(['', 'a', 'a/', 'a/b', 'a/b.'])('accepts the prefix %j', (prefix) => {
    expect(() => assertBlobKeyPrefix(prefix)).not.toThrow();
  });

  it.each(['/', '../', 'a/../', './a', 'a//', 'A', 'a*'])('refuses the prefix %j', (prefix) => {
    expect(() => assertBlobKeyPrefix(prefix)).toThrow(
      expect.objectContaining({ code: 'internal' }),
    );
  });
});
