import { readCtm as readCtmFrom, type CtmWord } from './ctm-words';

const readCtm = (text: string): CtmWord[] => readCtmFrom(text, new Map([['window', 0]]));

describe('readCtm', () => {
  it('reads words with their times and confidence', () => {
    expect(readCtm('window 1 0.25 0.50 turn 0.853\nwindow 1 0.75 0.25 on 0.999\n')).toEqual([
      { word: 'turn', startSeconds: 0.25, endSeconds: 0.75, confidence: 0.853 },
      { word: 'on', startSeconds: 0.75, endSeconds: 1, confidence: 0.999 },
    ]);
  });

  it('reads nothing from an empty file', () => {
    expect(readCtm('')).toEqual([]);
    expect(readCtm('\n\n')).toEqual([]);
  });

  it.each(['<s>', '</s>', '<sil>', '[NOISE]', '[SPEECH]', '++SMACK++'])(
    'leaves out the mark %s',
    (mark) => {
      expect(readCtm(`window 1 0.1 0.2 ${mark} 1.0\nwindow 1 0.3 0.1 on 1.0`)).toHaveLength(1);
    },
  );

  it('gives the plain word for another way to pronounce it', () => {
    expect(readCtm('window 1 0.1 0.2 was(2) 0.5')[0]?.word).toBe('was');
  });

  it('keeps apostrophes, dots and hyphens of words', () => {
    const words = readCtm("window 1 0 1 don't 1\nwindow 1 1 1 u.s. 1\nwindow 1 2 1 x-ray 1");
    expect(words.map(({ word }) => word)).toEqual(["don't", 'u.s.', 'x-ray']);
  });

  it.each(['window 1 0.1', 'window 1 x 0.2 on 0.5', 'window 1 0.1 y on 0.5', ';; a comment'])(
    'leaves out the line %j, which is not a word',
    (line) => {
      expect(readCtm(line)).toEqual([]);
    },
  );

  it.each([
    ['1.001', 1],
    ['-0.2', 0],
    ['nan', 0],
    ['', 0],
  ])('brings the confidence %j into 0..1', (given, confidence) => {
    expect(readCtm(`window 1 0.1 0.2 on ${given}`)[0]?.confidence).toBe(confidence);
  });

  it('reads lines that end with a carriage return', () => {
    expect(readCtm('window 1 0 1 on 0.5\r\n')).toEqual([
      { word: 'on', startSeconds: 0, endSeconds: 1, confidence: 0.5 },
    ]);
  });

  it('adds where the utterance of the word begins', () => {
    const beginnings = new Map([
      ['u0', 0.5],
      ['u1', 60],
    ]);
    expect(readCtmFrom('u0 1 1 0.5 turn 1\nu1 1 0.25 0.5 on 1', beginnings)).toEqual([
      { word: 'turn', startSeconds: 1.5, endSeconds: 2, confidence: 1 },
      { word: 'on', startSeconds: 60.25, endSeconds: 60.75, confidence: 1 },
    ]);
  });

  it('leaves out words of an utterance that it was not asked about', () => {
    expect(readCtmFrom('u7 1 1 0.5 turn 1', new Map([['u0', 0]]))).toEqual([]);
  });
});
