/** Words that must be changed, put in or taken out of `heard` to make it `said`, against the words said. */
export interface WordErrors {
  readonly errors: number;
  readonly words: number;
}

/** Words as they are compared: lower case, without punctuation; `don't` stays one word. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu) ?? [];
}

/** Levenshtein distance over words. */
export function wordErrors(said: string, heard: string): WordErrors {
  const wanted = wordsOf(said);
  const given = wordsOf(heard);
  let previous = given.map((_, index) => index + 1);
  for (const [row, word] of wanted.entries()) {
    const current: number[] = [];
    for (const [column, other] of given.entries()) {
      const diagonal = column === 0 ? row : (previous[column - 1] ?? 0);
      const left = column === 0 ? row + 1 : (current[column - 1] ?? 0);
      const above = previous[column] ?? 0;
      current.push(Math.min(diagonal + (word === other ? 0 : 1), left + 1, above + 1));
    }
    previous = current;
  }
  return { errors: previous.at(-1) ?? wanted.length, words: wanted.length };
}

/** Errors per word said, over all pairs together: long texts weigh more than short ones. */
export function wordErrorRate(pairs: Iterable<WordErrors>): number {
  let errors = 0;
  let words = 0;
  for (const pair of pairs) {
    errors += pair.errors;
    words += pair.words;
  }
  if (words === 0) {
    throw new Error('no words to compare with');
  }
  return errors / words;
}
