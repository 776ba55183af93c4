import { claimedJob } from '../../../../test/fakes/claimed-job';
import type { RecognitionRequest, RecognitionResult, RecognitionTicket } from '../../recognition';
import type { Transcript, TranscriptWarning } from '../domain/transcript';
import { asTranscript } from './transcript-of-result';

const ticket: RecognitionTicket = { engine: 'sherpa', model: 'small', reference: '' };
const cut: TranscriptWarning = { code: 'truncated_media', detail: 'cut', start_s: 8, end_s: 9 };

async function transcriptOf(
  result: Partial<RecognitionResult>,
  warnings: readonly TranscriptWarning[] = [],
): Promise<Transcript> {
  const job = await claimedJob('transcribe', { warnings });
  const request: RecognitionRequest = {
    recordingId: job.id,
    audioPath: '/tmp/x.wav',
    durationSeconds: 12.345678,
    language: null,
    prompt: null,
  };
  const whole = { segments: [], language: null, warnings: [], ...result };
  return asTranscript(job, ticket, request, whole);
}

describe('asTranscript', () => {
  it('joins the segments, numbers them from nothing and rounds times to milliseconds', async () => {
    const transcript = await transcriptOf({
      language: 'en',
      segments: [
        {
          startSeconds: 0.12345,
          endSeconds: 1.9996,
          text: 'turn on',
          confidence: 0.87654,
          words: [{ word: 'turn', startSeconds: 0.1234, endSeconds: 0.5678 }],
        },
        { startSeconds: 2, endSeconds: 3, text: 'the lights' },
      ],
    });
    expect(transcript).toEqual({
      recording_id: expect.any(String),
      text: 'turn on the lights',
      language: 'en',
      duration_s: 12.346,
      engine: 'sherpa',
      model: 'small',
      segments: [
        {
          index: 0,
          start_s: 0.123,
          end_s: 2,
          text: 'turn on',
          confidence: 0.87654,
          words: [{ word: 'turn', start_s: 0.123, end_s: 0.568 }],
        },
        { index: 1, start_s: 2, end_s: 3, text: 'the lights' },
      ],
      warnings: [],
    });
  });

  it('does not name what the engine does not give', async () => {
    const { segments } = await transcriptOf({
      segments: [{ startSeconds: 0, endSeconds: 1, text: 'a' }],
    });
    expect(Object.keys(segments[0] ?? {})).toEqual(['index', 'start_s', 'end_s', 'text']);
  });

  it('is empty for silence', async () => {
    expect(await transcriptOf({})).toMatchObject({ text: '', segments: [], language: null });
  });

  it("puts the engine's warnings after those gathered on the way", async () => {
    const { warnings } = await transcriptOf(
      {
        warnings: [
          { code: 'dropped_span', detail: 'noise', startSeconds: 1.00049, endSeconds: 2 },
          { code: 'low_quality_engine', detail: 'a small model' },
        ],
      },
      [cut],
    );
    expect(warnings).toEqual([
      cut,
      { code: 'dropped_span', detail: 'noise', start_s: 1, end_s: 2 },
      { code: 'low_quality_engine', detail: 'a small model' },
    ]);
  });
});
