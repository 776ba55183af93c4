/** One word of a CTM file: times in seconds from the start of the whole audio. */
export interface CtmWord {
  readonly word: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** 0..1 */
  readonly confidence: number;
}

/** Marks of the decoder that are not words: <s>, </s>, <sil>, [NOISE], ++SMACK++. */
const MARK = /^(<.*>|\[.*\]|\+\+.*\+\+)$/;
/** `was(2)`: the second way to pronounce it. */
const VARIANT = /\(\d+\)$/;

/**
 * Reads `id channel start duration word confidence` lines; others are left out.
 * @param beginnings by id: the second of the whole audio at which that utterance begins
 */
export function readCtm(text: string, beginnings: ReadonlyMap<string, number>): CtmWord[] {
  return text.split('\n').flatMap((line) => {
    const [id = '', , start, duration, word, confidence] = line.trim().split(/\s+/);
    const startSeconds = (beginnings.get(id) ?? Number.NaN) + Number(start);
    const length = Number(duration);
    if (word === undefined || MARK.test(word) || Number.isNaN(startSeconds + length)) {
      return [];
    }
    return [
      {
        word: word.replace(VARIANT, ''),
        startSeconds,
        endSeconds: startSeconds + length,
        confidence: Math.min(1, Math.max(0, Number(confidence) || 0)),
      },
    ];
  });
}
