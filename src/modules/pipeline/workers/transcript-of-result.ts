import type {
  RecognitionRequest,
  RecognitionResult,
  RecognitionTicket,
  RecognizedSegment,
} from '../../recognition';
import type { Job } from '../domain/job';
import type { Transcript, TranscriptSegment, TranscriptWarning } from '../domain/transcript';

const milliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** An engine's answer in the words of the contract, with the warnings gathered on the way. */
export function asTranscript(
  job: Job,
  ticket: RecognitionTicket,
  request: RecognitionRequest,
  result: RecognitionResult,
): Transcript {
  return {
    recording_id: job.id,
    text: result.segments.map(({ text }) => text).join(' '),
    language: result.language,
    duration_s: milliseconds(request.durationSeconds),
    engine: ticket.engine,
    model: ticket.model,
    segments: result.segments.map(asSegment),
    warnings: [
      ...job.warnings,
      ...result.warnings.map(({ code, detail, startSeconds, endSeconds }): TranscriptWarning => ({
        code,
        detail,
        ...(startSeconds === undefined ? {} : { start_s: milliseconds(startSeconds) }),
        ...(endSeconds === undefined ? {} : { end_s: milliseconds(endSeconds) }),
      })),
    ],
  };
}

function asSegment(segment: RecognizedSegment, index: number): TranscriptSegment {
  return {
    index,
    start_s: milliseconds(segment.startSeconds),
    end_s: milliseconds(segment.endSeconds),
    text: segment.text,
    ...(segment.confidence === undefined ? {} : { confidence: segment.confidence }),
    ...(segment.words === undefined
      ? {}
      : {
          words: segment.words.map(({ word, startSeconds, endSeconds }) => ({
            word,
            start_s: milliseconds(startSeconds),
            end_s: milliseconds(endSeconds),
          })),
        }),
  };
}
