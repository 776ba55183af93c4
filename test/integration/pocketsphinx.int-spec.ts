import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../src/common/errors/app-error';
import {
  DEBIAN_POCKETSPHINX,
  PocketSphinxRecognizer,
} from '../../src/modules/recognition/engines/pocketsphinx.recognizer';
import type {
  RecognitionRequest,
  RecognitionResult,
  RecognitionTicket,
  RecognizedWord,
} from '../../src/modules/recognition/recognizer.port';
import { describeRecognizerContract } from '../contracts/recognizer.contract';
import { FakeClock } from '../fakes/fake-clock';
import { childProcesses, childStarted } from '../support/child-processes';
import { generated } from '../support/make-audio';
import {
  quiet,
  samplesOf,
  secondsOf,
  speechWav,
  spoken,
  voiceIn,
  wavOf,
  type SpeechWav,
} from '../support/speech-wav';

const SENTENCE = 'turn on the lights in the kitchen';
const TICKET: RecognitionTicket = { engine: 'pocketsphinx', model: 'en-us', reference: '' };
const never = new AbortController().signal;
const ignore = (): void => undefined;

let folder: string;
let sentence: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pocketsphinx-spec-'));
  sentence = await spoken(folder, SENTENCE);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describeRecognizerContract(
  'PocketSphinx',
  async () => {
    const scratchDir = await mkdtemp(join(folder, 'scratch-'));
    const clock = new FakeClock();
    return {
      recognizer: new PocketSphinxRecognizer({ ...DEBIAN_POCKETSPHINX, scratchDir }, clock),
      underWay: async () => {
        await childStarted();
      },
      pass: (ms) => clock.advance(ms),
      traces: async () => [
        ...(await readdir(scratchDir)),
        ...(await childProcesses()).map((pid) => `process ${pid}`),
        ...(clock.pendingTimers === 0 ? [] : [`${clock.pendingTimers} timers`]),
      ],
      close: () => rm(scratchDir, { recursive: true, force: true }),
    };
  },
  {
    speech: () => speechWav(folder, 'contract-speech.wav', sentence),
    silence: () => speechWav(folder, 'contract-silence.wav', quiet(3)),
    word: 'kitchen',
    language: 'en',
    unknownLanguage: 'ru',
  },
);

describe('PocketSphinx', () => {
  let scratchDir: string;
  let clock: FakeClock;

  beforeEach(async () => {
    scratchDir = await mkdtemp(join(folder, 'scratch-'));
    clock = new FakeClock();
  });

  afterEach(async () => {
    expect(existsSync(scratchDir) ? await readdir(scratchDir) : []).toEqual([]);
    expect(await childProcesses()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  const engine = (
    settings: Partial<ConstructorParameters<typeof PocketSphinxRecognizer>[0]> = {},
  ): PocketSphinxRecognizer =>
    new PocketSphinxRecognizer({ ...DEBIAN_POCKETSPHINX, scratchDir, ...settings }, clock);

  const requestFor = (audio: SpeechWav): RecognitionRequest => ({
    recordingId: '0192f0c1-0000-7000-8000-000000000001',
    ...audio,
    language: 'en',
    prompt: null,
  });

  const collect = async (
    recognizer: PocketSphinxRecognizer,
    audio: SpeechWav,
    onProgress: (share: number) => void = ignore,
  ): Promise<RecognitionResult> => {
    const answer = await recognizer.collect(TICKET, requestFor(audio), never, onProgress);
    if (answer.status !== 'ready') {
      throw new Error('PocketSphinx works while it is collected');
    }
    return answer.result;
  };

  const recognize = async (
    pcm: Buffer,
    onProgress: (share: number) => void = ignore,
  ): Promise<RecognitionResult> =>
    collect(engine(), await speechWav(folder, 'audio.wav', pcm), onProgress);

  const textOf = ({ segments }: RecognitionResult): string =>
    segments.map(({ text }) => text).join(' ');
  const wordsOf = ({ segments }: RecognitionResult): RecognizedWord[] =>
    segments.flatMap(({ words }) => words ?? []);

  /** A stand-in for the program that does `script` when it is asked to recognise. */
  const standIn = async (script: string): Promise<string> => {
    const program = join(await mkdtemp(join(folder, 'program-')), 'pocketsphinx_batch');
    await writeFile(program, `#!/bin/sh\n[ $# -eq 0 ] && exit 0\n${script}\n`);
    await chmod(program, 0o755);
    return program;
  };

  const failureOf = async (work: Promise<unknown>): Promise<AppError> => {
    const failure: unknown = await work.then(
      () => 'it did not fail',
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(AppError);
    return failure as AppError;
  };

  describe('hears', () => {
    it('a sentence, word by word, and says how little to expect of it', async () => {
      const result = await recognize(sentence);
      expect(textOf(result)).toBe(SENTENCE);
      expect(result.language).toBe('en');
      expect(result.warnings.map(({ code }) => code)).toEqual(['low_quality_engine']);
    });

    it('Scenario: words after a long silence stand at the time they are said', async () => {
      const pcm = Buffer.concat([quiet(10), sentence, quiet(10)]);
      const voice = voiceIn(pcm);
      const result = await recognize(pcm);
      expect(textOf(result)).toBe(SENTENCE);
      const words = wordsOf(result);
      expect(Math.abs((words[0]?.startSeconds ?? 0) - voice.from)).toBeLessThan(0.3);
      expect(Math.abs((words.at(-1)?.endSeconds ?? 0) - voice.to)).toBeLessThan(0.3);
    });

    it('Scenario: a sentence is heard the same in a room that hisses for long before and after', async () => {
      const hiss = await samplesOf(
        folder,
        await generated(
          folder,
          'hiss.wav',
          ...['-f', 'lavfi', '-i', 'anoisesrc=d=15:c=white:r=16000:a=0.002:seed=2'],
        ),
      );
      expect(textOf(await recognize(Buffer.concat([hiss, sentence, hiss])))).toBe(SENTENCE);
    });

    it('Scenario: every sentence of a long recording is found where it is said', async () => {
      const unit = Buffer.concat([sentence, quiet(3)]);
      const times = Math.ceil(125 / secondsOf(unit));
      const shares: number[] = [];
      const result = await recognize(Buffer.concat(Array<Buffer>(times).fill(unit)), (share) =>
        shares.push(share),
      );
      const voice = voiceIn(sentence);
      expect(result.segments.map(({ text }) => text)).toEqual(Array(times).fill(SENTENCE));
      for (const [index, segment] of result.segments.entries()) {
        const offset = index * secondsOf(unit);
        expect(Math.abs(segment.startSeconds - offset - voice.from)).toBeLessThan(0.3);
        expect(Math.abs(segment.endSeconds - offset - voice.to)).toBeLessThan(0.3);
      }
      expect(shares.length).toBeGreaterThanOrEqual(3);
      expect(shares.at(-1)).toBe(1);
    }, 180_000);

    it('nothing in white noise', async () => {
      const noise = await generated(
        folder,
        'noise.wav',
        ...['-f', 'lavfi', '-i', 'anoisesrc=d=5:c=white:r=16000:a=0.1:seed=1'],
      );
      expect((await recognize(await samplesOf(folder, noise))).segments).toEqual([]);
    });

    it.each([0, 1 / 16_000, 0.01, 0.05, 0.1, 0.3])(
      'nothing in %d s of silence',
      async (seconds) => {
        expect((await recognize(quiet(seconds))).segments).toEqual([]);
      },
    );
  });

  it('Scenario: audio that was cut off is not passed off as the whole', async () => {
    const audio = await speechWav(folder, 'short.wav', sentence);
    const failure = await failureOf(collect(engine(), { ...audio, durationSeconds: 60 }));
    expect(failure.code).toBe('corrupt_media');
  });

  it('refuses audio of another rate, which it would hear as other words', async () => {
    const wav = wavOf(sentence);
    wav.writeUInt32LE(8000, 24);
    await writeFile(join(folder, 'rate.wav'), wav);
    const audio = { audioPath: join(folder, 'rate.wav'), durationSeconds: secondsOf(sentence) };
    expect((await failureOf(collect(engine(), audio))).code).toBe('corrupt_media');
  });

  it.each(['ru', 'de', 'eng', 'enx'])('does not know the language %j', async (language) => {
    const request = { ...requestFor(await speechWav(folder, 'a.wav', sentence)), language };
    const failure = await failureOf(engine().submit(request, never));
    expect(failure.code).toBe('language_unsupported');
  });

  it.each(['en', 'EN', 'en-US', 'en_GB', null])('knows the language %j', async (language) => {
    const request = { ...requestFor(await speechWav(folder, 'a.wav', sentence)), language };
    expect(await engine().submit(request, never)).toEqual(TICKET);
  });

  describe('fails with a code when', () => {
    let speech: SpeechWav;

    beforeEach(async () => {
      speech = await speechWav(folder, 'speech.wav', sentence);
    });

    it('Scenario: an engine that is killed from outside fails and can be tried again', async () => {
      const recognizer = engine();
      const failing = failureOf(collect(recognizer, speech));
      for (const pid of await childStarted()) {
        process.kill(pid, 'SIGKILL');
      }
      const failure = await failing;
      expect(failure.code).toBe('engine_failed');
      expect(failure.retryable).toBe(true);
      expect(textOf(await collect(recognizer, speech))).toBe(SENTENCE);
    });

    it('the program is not installed', async () => {
      const recognizer = engine({ program: join(folder, 'no-such-program') });
      for (const work of [
        recognizer.check(),
        recognizer.submit(requestFor(speech), never),
        collect(recognizer, speech),
      ]) {
        expect((await failureOf(work)).code).toBe('engine_unavailable');
      }
    });

    it('the program is not a program', async () => {
      const program = join(folder, 'text-file');
      await writeFile(program, 'hello');
      expect((await failureOf(engine({ program }).check())).code).toBe('engine_unavailable');
    });

    it('the loader cannot run the program', async () => {
      const program = await standIn('exit 127');
      const failure = await failureOf(collect(engine({ program }), speech));
      expect(failure.code).toBe('engine_unavailable');
    });

    it('the model is not installed, without saying where it was looked for', async () => {
      const modelDir = join(folder, 'no-such-model');
      const recognizer = engine({ modelDir });
      for (const work of [
        recognizer.check(),
        recognizer.submit(requestFor(speech), never),
        collect(recognizer, speech),
      ]) {
        const failure = await failureOf(work);
        expect(failure.code).toBe('model_missing');
        expect(failure.detail).not.toContain(folder);
      }
    });

    it.each(['en-us', 'en-us.lm.bin', 'cmudict-en-us.dict'])(
      'the model lacks %s',
      async (missing) => {
        const modelDir = await mkdtemp(join(folder, 'model-'));
        for (const file of await readdir(DEBIAN_POCKETSPHINX.modelDir)) {
          if (file !== missing) {
            await symlink(join(DEBIAN_POCKETSPHINX.modelDir, file), join(modelDir, file));
          }
        }
        expect((await failureOf(engine({ modelDir }).check())).code).toBe('model_missing');
      },
    );

    it('the model is damaged', async () => {
      const modelDir = await mkdtemp(join(folder, 'model-'));
      for (const file of ['en-us.lm.bin', 'cmudict-en-us.dict']) {
        await symlink(join(DEBIAN_POCKETSPHINX.modelDir, file), join(modelDir, file));
      }
      await mkdir(join(modelDir, 'en-us'));
      await cp(
        join(DEBIAN_POCKETSPHINX.modelDir, 'en-us', 'feat.params'),
        join(modelDir, 'en-us', 'feat.params'),
      );
      const failure = await failureOf(collect(engine({ modelDir }), speech));
      expect(failure.code).toBe('model_missing');
    });

    it('Scenario: an engine that hangs is killed and its time is over', async () => {
      const program = await standIn('exec sleep 1000');
      const failing = failureOf(collect(engine({ program }), speech));
      await childStarted();
      await clock.advance(29_000);
      expect(await childProcesses()).toHaveLength(1);
      await clock.advance(60_000);
      expect((await failing).code).toBe('engine_timeout');
    });

    it('Scenario: an engine that floods its error output does not flood our memory', async () => {
      const program = await standIn('head -c 30000000 /dev/zero | tr "\\0" x >&2; exit 1');
      const failure = await failureOf(collect(engine({ program }), speech));
      expect(failure.code).toBe('engine_failed');
      expect(String(failure.cause).length).toBeLessThan(5000);
      expect(failure.detail).not.toContain('xxx');
    });

    it('the program succeeds without an answer', async () => {
      const program = await standIn('exit 0');
      const failure = await failureOf(collect(engine({ program }), speech));
      expect(failure.code).toBe('engine_failed');
    });

    it('the disk takes no scratch files', async () => {
      await writeFile(join(folder, 'file'), '');
      const recognizer = engine({ scratchDir: join(folder, 'file', 'scratch') });
      expect((await failureOf(collect(recognizer, speech))).code).toMatch(/^storage_/);
    });
  });
});
