import { AppError } from '../../src/common/errors/app-error';
import type {
  RecognitionRequest,
  RecognitionResult,
  RecognitionTicket,
  Recognizer,
} from '../../src/modules/recognition/recognizer.port';
import type { SpeechWav } from '../support/speech-wav';

export interface RecognizerHarness {
  readonly recognizer: Recognizer;
  /** Resolves while a `collect` is under way, when the engine has really begun to work. */
  underWay(): Promise<void>;
  /** Lets the time pass that a pending answer asks for. */
  pass(ms: number): Promise<void>;
  /** Files and processes of the engine's that exist right now; none when it has nothing to do. */
  traces(): Promise<string[]>;
  close(): Promise<void>;
}

export interface RecognizerSamples {
  /** Audio long enough for the engine to be stopped in the midst of it. */
  speech(): Promise<SpeechWav>;
  silence(): Promise<SpeechWav>;
  /** A word that the engine hears in the speech. */
  readonly word: string;
  readonly language: string;
  /** A language the engine says it does not know; null when it knows them all. */
  readonly unknownLanguage: string | null;
}

/** One suite that every speech engine passes. `open` gives an idle engine each time. */
export function describeRecognizerContract(
  name: string,
  open: () => Promise<RecognizerHarness>,
  samples: RecognizerSamples,
): void {
  describe(`${name} as a Recognizer`, () => {
    let harness: RecognizerHarness;
    let recognizer: Recognizer;

    beforeEach(async () => {
      harness = await open();
      recognizer = harness.recognizer;
    });

    afterEach(() => harness.close());

    const never = new AbortController().signal;
    const ignore = (): void => undefined;

    const requestFor = (
      audio: SpeechWav,
      changes: Partial<RecognitionRequest> = {},
    ): RecognitionRequest => ({
      recordingId: '0192f0c1-0000-7000-8000-000000000001',
      ...audio,
      language: samples.language,
      prompt: null,
      ...changes,
    });

    /** Asks until the engine is ready, as the pipeline does. */
    const collect = async (
      ticket: RecognitionTicket,
      request: RecognitionRequest,
      signal = never,
      onProgress: (share: number) => void = ignore,
    ): Promise<RecognitionResult> => {
      for (;;) {
        const answer = await recognizer.collect(ticket, request, signal, onProgress);
        if (answer.status === 'ready') {
          return answer.result;
        }
        expect(answer.checkAfterMs).toBeGreaterThan(0);
        await harness.pass(answer.checkAfterMs);
      }
    };

    const recognize = async (request: RecognitionRequest): Promise<RecognitionResult> =>
      collect(await recognizer.submit(request, never), request);

    it('says that it can work', async () => {
      await expect(recognizer.check()).resolves.toBeUndefined();
    });

    it('hears what is said, and leaves nothing behind', async () => {
      const { segments } = await recognize(requestFor(await samples.speech()));
      const words = segments.flatMap(({ text }) => text.toLowerCase().split(/[^\p{L}\p{N}']+/u));
      expect(words).toContain(samples.word);
      expect(await harness.traces()).toEqual([]);
    });

    it('hears the same when it is not told the language', async () => {
      const speech = await samples.speech();
      const told = await recognize(requestFor(speech));
      const untold = await recognize(requestFor(speech, { language: null }));
      expect(untold.segments.map(({ text }) => text)).toEqual(
        told.segments.map(({ text }) => text),
      );
    });

    it('gives times that rise and stay within the audio', async () => {
      const speech = await samples.speech();
      const { segments } = await recognize(requestFor(speech));
      expect(segments).not.toEqual([]);
      let end = 0;
      for (const segment of segments) {
        expect(segment.text.trim()).not.toBe('');
        expect(segment.startSeconds).toBeGreaterThanOrEqual(end);
        expect(segment.endSeconds).toBeGreaterThanOrEqual(segment.startSeconds);
        end = segment.endSeconds;
      }
      expect(end).toBeLessThanOrEqual(speech.durationSeconds);
    });

    it('gives words whose times rise within their segment', async () => {
      const { segments } = await recognize(requestFor(await samples.speech()));
      for (const segment of segments) {
        let end = segment.startSeconds;
        for (const word of segment.words ?? []) {
          expect(word.word.trim()).not.toBe('');
          expect(word.startSeconds).toBeGreaterThanOrEqual(end);
          expect(word.endSeconds).toBeGreaterThanOrEqual(word.startSeconds);
          end = word.endSeconds;
        }
        expect(end).toBeLessThanOrEqual(segment.endSeconds);
      }
    });

    it('gives confidences between 0 and 1 where it gives any', async () => {
      const { segments } = await recognize(requestFor(await samples.speech()));
      for (const { confidence } of segments) {
        expect(confidence ?? 0).toBeGreaterThanOrEqual(0);
        expect(confidence ?? 0).toBeLessThanOrEqual(1);
      }
    });

    it('Scenario: silence is an empty text, not an error', async () => {
      const { segments } = await recognize(requestFor(await samples.silence()));
      expect(segments).toEqual([]);
    });

    it('Scenario: asking a second time gives the same text', async () => {
      const request = requestFor(await samples.speech());
      const ticket = await recognizer.submit(request, never);
      const first = await collect(ticket, request);
      expect(first.segments).not.toEqual([]);
      expect(await collect(ticket, request)).toEqual(first);
    });

    it('Scenario: work handed in twice after a crash is done as if handed in once', async () => {
      const request = requestFor(await samples.speech());
      const first = await recognizer.submit(request, never);
      const second = await recognizer.submit(request, never);
      expect(await collect(second, request)).toEqual(await collect(first, request));
    });

    it('reports shares that rise to 1 at most', async () => {
      const request = requestFor(await samples.speech());
      const shares: number[] = [];
      await collect(await recognizer.submit(request, never), request, never, (share) =>
        shares.push(share),
      );
      expect(shares.filter((share) => !(share >= 0 && share <= 1))).toEqual([]);
      expect(shares).toEqual([...shares].sort((a, b) => a - b));
    });

    it('refuses to begin when it is aborted already', async () => {
      const request = requestFor(await samples.speech());
      const ticket = await recognizer.submit(request, never);
      const reason = new Error('called off');
      const aborted = AbortSignal.abort(reason);
      await expect(recognizer.submit(request, aborted)).rejects.toBe(reason);
      await expect(recognizer.collect(ticket, request, aborted, ignore)).rejects.toBe(reason);
      expect(await harness.traces()).toEqual([]);
    });

    it('Scenario: an engine that is aborted leaves no process and no file', async () => {
      const request = requestFor(await samples.speech());
      const ticket = await recognizer.submit(request, never);
      const controller = new AbortController();
      const reason = new Error('called off');
      const outcome = collect(ticket, request, controller.signal).then(
        () => 'finished before it was aborted',
        (error: unknown) => error,
      );
      await Promise.race([harness.underWay(), outcome]);
      expect(await harness.traces()).not.toEqual([]);

      controller.abort(reason);

      expect(await outcome).toBe(reason);
      expect(await harness.traces()).toEqual([]);
    });

    it('works again after it was aborted', async () => {
      const request = requestFor(await samples.speech());
      const ticket = await recognizer.submit(request, never);
      const controller = new AbortController();
      const outcome = collect(ticket, request, controller.signal).catch(() => undefined);
      await Promise.race([harness.underWay(), outcome]);
      controller.abort(new Error('called off'));
      await outcome;
      expect((await collect(ticket, request)).segments).not.toEqual([]);
    });

    it('Scenario: two recordings recognised at once do not mix', async () => {
      const [speech, silence] = [await samples.speech(), await samples.silence()];
      const alone = await recognize(requestFor(speech));
      const [spoken, silent] = await Promise.all([
        recognize(requestFor(speech)),
        recognize(requestFor(silence, { recordingId: '0192f0c1-0000-7000-8000-000000000002' })),
      ]);
      expect(spoken).toEqual(alone);
      expect(silent.segments).toEqual([]);
    });

    it('tells with a code that the audio is gone', async () => {
      const speech = await samples.speech();
      const error: unknown = await recognize(
        requestFor({ ...speech, audioPath: `${speech.audioPath}.gone` }),
      ).catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'audio_missing' });
      expect((error as AppError).detail).not.toContain(speech.audioPath);
      expect(await harness.traces()).toEqual([]);
    });

    const { unknownLanguage } = samples;
    if (unknownLanguage !== null) {
      it('Scenario: a language the engine does not know is refused, not guessed at', async () => {
        const request = requestFor(await samples.speech(), { language: unknownLanguage });
        await expect(recognizer.submit(request, never)).rejects.toMatchObject({
          code: 'language_unsupported',
        });
      });
    }

    it('forgets work more than once, and work it never had', async () => {
      const ticket = await recognizer.submit(requestFor(await samples.speech()), never);
      await recognizer.forget(ticket);
      await recognizer.forget(ticket);
      await recognizer.forget({ ...ticket, reference: 'never-heard-of' });
      expect(await harness.traces()).toEqual([]);
    });
  });
}
