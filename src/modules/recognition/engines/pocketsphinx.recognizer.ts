import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../common/clock/clock';
import { AppError } from '../../../common/errors/app-error';
import { runProgram } from '../../../common/programs/run-program';
import {
  Recognizer,
  type RecognitionAnswer,
  type RecognitionRequest,
  type RecognitionTicket,
  type RecognitionWarning,
} from '../recognizer.port';
import { readCtm, type CtmWord } from './ctm-words';
import { segmentsOfWords } from './segments-of-words';
import { wavWindows, writeWav, type WavWindow } from './wav-windows';

export interface PocketSphinxSettings {
  readonly program: string;
  /** Folder with `en-us`, `en-us.lm.bin` and `cmudict-en-us.dict`. */
  readonly modelDir: string;
  /** Windows of audio are written below it and removed again. */
  readonly scratchDir: string;
}

/** Where Debian's packages pocketsphinx and pocketsphinx-en-us put things. */
export const DEBIAN_POCKETSPHINX = {
  program: 'pocketsphinx_batch',
  modelDir: '/usr/share/pocketsphinx/model/en-us',
};

export const SCRATCH_PREFIX = 'pocketsphinx-';
const MODEL = 'en-us';
const MODEL_FILES = ['en-us', 'en-us.lm.bin', 'cmudict-en-us.dict'];

/** Less is no sound; the program dies of an empty list entry. */
const SHORTEST_SECONDS = 0.1;
/** Measured at 0.2 of the audio's length; ten times as slow as real time means that it hangs. */
const TIMEOUT_BASE_MS = 30_000;
const TIMEOUT_PER_SECOND_MS = 10_000;
const VERSION_TIMEOUT_MS = 10_000;
const LOG_TAIL = 500;

const LOW_QUALITY: RecognitionWarning = {
  code: 'low_quality_engine',
  detail: 'PocketSphinx gets about a third of the words wrong',
};

/**
 * PocketSphinx as a child process: English only, works everywhere, of low quality. It works while it
 * is collected, so a repeat after a crash starts over.
 */
export class PocketSphinxRecognizer extends Recognizer {
  constructor(
    private readonly settings: PocketSphinxSettings,
    private readonly clock: Clock,
  ) {
    super();
  }

  async submit(request: RecognitionRequest, signal: AbortSignal): Promise<RecognitionTicket> {
    signal.throwIfAborted();
    if (request.language !== null && !/^en\b/i.test(request.language)) {
      throw new AppError('language_unsupported', {
        detail: 'The engine in use only knows English',
      });
    }
    await this.requireModel();
    return { engine: 'pocketsphinx', model: MODEL, reference: '' };
  }

  async collect(
    _ticket: RecognitionTicket,
    request: RecognitionRequest,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<RecognitionAnswer> {
    signal.throwIfAborted();
    await this.requireModel();
    await mkdir(this.settings.scratchDir, { recursive: true });
    const folder = await mkdtemp(join(this.settings.scratchDir, SCRATCH_PREFIX));
    try {
      const words: CtmWord[] = [];
      for await (const window of this.windows(request.audioPath)) {
        words.push(...(await this.recognize(window, folder, signal)));
        onProgress(Math.min(1, window.endSeconds / request.durationSeconds));
      }
      const segments = segmentsOfWords(words, request.durationSeconds);
      return { status: 'ready', result: { segments, language: 'en', warnings: [LOW_QUALITY] } };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async forget(): Promise<void> {
    // Nothing is kept anywhere between submit and collect.
  }

  async check(): Promise<void> {
    await this.requireModel();
    await this.run(['-help'], VERSION_TIMEOUT_MS, new AbortController().signal);
  }

  private async *windows(path: string): AsyncGenerator<WavWindow> {
    try {
      yield* wavWindows(path);
    } catch (error) {
      throw (error as { code?: unknown }).code === 'ENOENT'
        ? new AppError('audio_missing', { cause: error })
        : error;
    }
  }

  /** Words of one window, with times from the start of the whole audio. */
  private async recognize(
    window: WavWindow,
    folder: string,
    signal: AbortSignal,
  ): Promise<CtmWord[]> {
    const seconds = window.endSeconds - window.startSeconds;
    if (seconds < SHORTEST_SECONDS) {
      return [];
    }
    await writeWav(join(folder, 'window.wav'), window.pcm);
    await writeFile(join(folder, 'list'), 'window\n');
    await rm(join(folder, 'words.ctm'), { force: true });
    const exitCode = await this.run(
      this.arguments(folder),
      TIMEOUT_BASE_MS + TIMEOUT_PER_SECOND_MS * seconds,
      signal,
    );
    if (exitCode !== 0) {
      throw new AppError('engine_failed', {
        cause: new Error(`exit code ${exitCode}: ${await tail(join(folder, 'log'))}`),
      });
    }
    const ctm = await readFile(join(folder, 'words.ctm'), 'utf8').catch((cause: unknown) => {
      throw new AppError('engine_failed', { cause });
    });
    return readCtm(ctm).map((word) => ({
      ...word,
      startSeconds: word.startSeconds + window.startSeconds,
      endSeconds: word.endSeconds + window.startSeconds,
    }));
  }

  /**
   * The mode with the fewest wrong words of those measured whose times are true: whole-window mean, wide
   * beam. Without `remove_silence no` the times run on a clock that stands still in every pause.
   */
  private arguments(folder: string): string[] {
    const { modelDir } = this.settings;
    return [
      ...['-hmm', join(modelDir, 'en-us'), '-lm', join(modelDir, 'en-us.lm.bin')],
      ...['-dict', join(modelDir, 'cmudict-en-us.dict')],
      ...['-adcin', 'yes', '-adchdr', '44', '-cepdir', folder, '-cepext', '.wav'],
      ...['-ctl', join(folder, 'list'), '-cmn', 'batch', '-remove_silence', 'no'],
      ...['-beam', '1e-60', '-wbeam', '1e-40', '-maxhmmpf', '-1'],
      ...['-ctm', join(folder, 'words.ctm'), '-logfn', join(folder, 'log')],
    ];
  }

  private async run(
    args: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<number> {
    const run = await runProgram(this.settings.program, args, {
      clock: this.clock,
      timeoutMs,
      signal,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new AppError('engine_unavailable', { cause: error });
    });
    if (run.timedOut) {
      throw new AppError('engine_timeout');
    }
    if (run.signal !== null) {
      throw new AppError('engine_failed', { cause: new Error(`killed by ${run.signal}`) });
    }
    return run.exitCode ?? 0;
  }

  private async requireModel(): Promise<void> {
    for (const file of MODEL_FILES) {
      await access(join(this.settings.modelDir, file), constants.R_OK).catch(() => {
        throw new AppError('model_missing', { detail: `The speech model lacks ${file}` });
      });
    }
  }
}

/** The last lines of the decoder's log: they name files and settings, never words that were said. */
async function tail(path: string): Promise<string> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size === 0) {
    return 'no log';
  }
  const log = await readFile(path, 'utf8');
  return log
    .split('\n')
    .filter((line) => /ERROR|FATAL/.test(line))
    .join('; ')
    .slice(-LOG_TAIL);
}
