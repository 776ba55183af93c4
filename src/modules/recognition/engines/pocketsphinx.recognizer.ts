import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../common/clock/clock';
import { AppError } from '../../../common/errors/app-error';
import { storing } from '../../../common/storage/storage-failure';
import {
  Recognizer,
  type RecognitionAnswer,
  type RecognitionRequest,
  type RecognitionTicket,
  type RecognitionWarning,
} from '../recognizer.port';
import type { CtmWord } from './ctm-words';
import { PocketSphinxProgram, type PocketSphinxFiles } from './pocketsphinx-program';
import { segmentsOfWords } from './segments-of-words';
import { wavWindows } from './wav-windows';

export interface PocketSphinxSettings extends PocketSphinxFiles {
  /** Windows of audio are written below it and removed again. */
  readonly scratchDir: string;
}

/** Where Debian's packages pocketsphinx and pocketsphinx-en-us put things. */
export const DEBIAN_POCKETSPHINX: PocketSphinxFiles = {
  program: 'pocketsphinx_batch',
  modelDir: '/usr/share/pocketsphinx/model/en-us',
};

export const SCRATCH_PREFIX = 'pocketsphinx-';
const TICKET: RecognitionTicket = { engine: 'pocketsphinx', model: 'en-us', reference: '' };
const ENGLISH = /^en([-_]|$)/i;
/** Audio that lacks more than this of its length has been cut off. */
const TOLERANCE_SECONDS = 1;

const LOW_QUALITY: RecognitionWarning = {
  code: 'low_quality_engine',
  detail: 'PocketSphinx gets about a third of the words wrong',
};

/**
 * PocketSphinx as a child process: English only, works everywhere, of low quality. It works while it
 * is collected, one window after the other, so a repeat after a crash starts over.
 */
export class PocketSphinxRecognizer extends Recognizer {
  private readonly program: PocketSphinxProgram;

  constructor(
    private readonly settings: PocketSphinxSettings,
    clock: Clock,
  ) {
    super();
    this.program = new PocketSphinxProgram(settings, clock);
  }

  async submit(request: RecognitionRequest, signal: AbortSignal): Promise<RecognitionTicket> {
    signal.throwIfAborted();
    requireEnglish(request.language);
    await this.program.check(signal);
    return TICKET;
  }

  async collect(
    _ticket: RecognitionTicket,
    request: RecognitionRequest,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<RecognitionAnswer> {
    signal.throwIfAborted();
    requireEnglish(request.language);
    await storing(mkdir(this.settings.scratchDir, { recursive: true }));
    const folder = await storing(mkdtemp(join(this.settings.scratchDir, SCRATCH_PREFIX)));
    try {
      const words = await this.recognizeAll(request, folder, signal, onProgress);
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
    await this.program.check(new AbortController().signal);
  }

  private async recognizeAll(
    { audioPath, durationSeconds }: RecognitionRequest,
    folder: string,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<CtmWord[]> {
    const words: CtmWord[] = [];
    let heardSeconds = 0;
    for await (const window of wavWindows(audioPath)) {
      words.push(...(await this.program.recognize(window, folder, signal)));
      heardSeconds = window.endSeconds;
      onProgress(Math.min(1, heardSeconds / durationSeconds));
    }
    if (heardSeconds < durationSeconds - TOLERANCE_SECONDS) {
      throw new AppError('corrupt_media', { detail: 'The converted audio is cut off' });
    }
    return words;
  }
}

/** @throws AppError `language_unsupported` rather than English words for another language's sounds */
function requireEnglish(language: string | null): void {
  if (language !== null && !ENGLISH.test(language)) {
    throw new AppError('language_unsupported', { detail: 'The engine in use only knows English' });
  }
}
