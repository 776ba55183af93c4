import type { CtmWord } from './ctm-words';
import { segmentsOfWords } from './segments-of-words';

const word = (
  text: string,
  startSeconds: number,
  endSeconds: number,
  confidence = 0.5,
): CtmWord => ({ word: text, startSeconds, endSeconds, confidence });

const texts = (words: readonly CtmWord[], durationSeconds = 1000): string[] =>
  segmentsOfWords(words, durationSeconds).map(({ text }) => text);

describe('segmentsOfWords', () => {
  it('makes no segment of no words', () => {
    expect(segmentsOfWords([], 10)).toEqual([]);
  });

  it('joins words that follow each other, with their mean confidence', () => {
    expect(segmentsOfWords([word('turn', 1, 1.5, 0.25), word('on', 1.5, 2, 0.75)], 10)).toEqual([
      {
        startSeconds: 1,
        endSeconds: 2,
        text: 'turn on',
        confidence: 0.5,
        words: [
          { word: 'turn', startSeconds: 1, endSeconds: 1.5 },
          { word: 'on', startSeconds: 1.5, endSeconds: 2 },
        ],
      },
    ]);
  });

  it('ends a segment at a pause of more than 0.6 s', () => {
    expect(texts([word('a', 0, 1), word('b', 1.5, 2), word('c', 2.75, 3)])).toEqual(['a b', 'c']);
  });

  it('does not take silence before the first word for a pause between words', () => {
    expect(texts([word('a', 30, 31)])).toEqual(['a']);
  });

  it('ends a segment before it is longer than 15 s, also without a pause', () => {
    const words = Array.from({ length: 40 }, (_, index) => word(`w${index}`, index, index + 1));
    const segments = segmentsOfWords(words, 1000);
    expect(segments.map(({ startSeconds, endSeconds }) => endSeconds - startSeconds)).toEqual([
      15, 15, 10,
    ]);
    expect(segments.map(({ text }) => text).join(' ')).toBe(
      words.map((each) => each.word).join(' '),
    );
  });

  it('keeps a single word that is longer than 15 s', () => {
    expect(texts([word('ooo', 0, 20), word('b', 20, 21)])).toEqual(['ooo', 'b']);
  });

  it('makes times rise where words overlap', () => {
    const [segment] = segmentsOfWords([word('a', 0, 1.25), word('b', 1, 2), word('c', 0.5, 1)], 10);
    expect(segment?.words).toEqual([
      { word: 'a', startSeconds: 0, endSeconds: 1.25 },
      { word: 'b', startSeconds: 1.25, endSeconds: 2 },
      { word: 'c', startSeconds: 2, endSeconds: 2 },
    ]);
  });

  it('keeps times within the audio', () => {
    const [segment] = segmentsOfWords([word('a', -0.5, 1), word('b', 1.5, 2.5)], 2);
    expect(segment).toMatchObject({ startSeconds: 0, endSeconds: 2, text: 'a b' });
  });
});
