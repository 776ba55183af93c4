import type { RecognizedSegment } from '../recognizer.port';
import type { CtmWord } from './ctm-words';

/** A pause of this length ends a segment. */
const PAUSE_SECONDS = 0.6;
const LONGEST_SECONDS = 15;

/** Groups words into segments by the pauses between them. Times are made to rise and to stay within the audio. */
export function segmentsOfWords(
  words: readonly CtmWord[],
  durationSeconds: number,
): RecognizedSegment[] {
  const segments: CtmWord[][] = [];
  let end = 0;
  for (const word of words) {
    const startSeconds = Math.min(Math.max(word.startSeconds, end), durationSeconds);
    const endSeconds = Math.min(Math.max(word.endSeconds, startSeconds), durationSeconds);
    const fitted = { ...word, startSeconds, endSeconds };
    const current = segments.at(-1);
    const first = current?.[0];
    if (
      current === undefined ||
      first === undefined ||
      startSeconds - end > PAUSE_SECONDS ||
      endSeconds - first.startSeconds > LONGEST_SECONDS
    ) {
      segments.push([fitted]);
    } else {
      current.push(fitted);
    }
    end = endSeconds;
  }
  return segments.map(asSegment);
}

function asSegment(words: readonly CtmWord[]): RecognizedSegment {
  const mean = words.reduce((sum, { confidence }) => sum + confidence, 0) / words.length;
  return {
    startSeconds: words[0]?.startSeconds ?? 0,
    endSeconds: words.at(-1)?.endSeconds ?? 0,
    text: words.map(({ word }) => word).join(' '),
    confidence: Math.round(mean * 1000) / 1000,
    words: words.map(({ word, startSeconds, endSeconds }) => ({ word, startSeconds, endSeconds })),
  };
}
