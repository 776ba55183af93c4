import { wordErrorRate, wordErrors, wordsOf } from '../support/word-error-rate';

describe('word error rate', () => {
  it.each([
    ['the same words', 'turn on the lights', 'turn on the lights', 0],
    ['a wrong word', 'turn on the lights', 'turn in the lights', 1],
    ['a missing word', 'turn on the lights', 'turn the lights', 1],
    ['a word too many', 'turn on the lights', 'turn on all the lights', 1],
    ['words in another order', 'one two', 'two one', 2],
    ['nothing heard', 'turn on the lights', '', 4],
    ['nothing said', '', 'uh huh', 2],
    ['another first and last word', 'a b c d', 'x b c y', 2],
  ])('counts %s', (_what, said, heard, errors) => {
    expect(wordErrors(said, heard).errors).toBe(errors);
  });

  it('counts the words said, not those heard', () => {
    expect(wordErrors('one two three', 'one').words).toBe(3);
  });

  it('ignores case and punctuation but keeps the apostrophe inside a word', () => {
    expect(wordsOf("Don't, they said: “Stop!”")).toEqual(["don't", 'they', 'said', 'stop']);
  });

  it('compares words of other scripts', () => {
    expect(wordErrors('Включи ночную лампу.', 'включи ночную лампу').errors).toBe(0);
  });

  it('weighs texts by their length', () => {
    const pairs = [wordErrors('a b c d e f g h i', 'a b c d e f g h i'), wordErrors('a', 'b')];
    expect(wordErrorRate(pairs)).toBe(0.1);
  });

  it('refuses to give a rate of nothing', () => {
    expect(() => wordErrorRate([])).toThrow('no words');
  });
});
