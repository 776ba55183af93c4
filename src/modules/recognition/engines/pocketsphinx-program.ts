import { constants } from 'node:fs';
import { access, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../common/clock/clock';
import { AppError } from '../../../common/errors/app-error';
import { runProgram, type ProgramRun } from '../../../common/programs/run-program';
import { storing } from '../../../common/storage/storage-failure';
import { readCtm, type CtmWord } from './ctm-words';
import { BYTES_PER_SECOND } from './pcm-format';
import { soundingStretches } from './sounding-stretches';
import type { WavWindow } from './wav-windows';

export interface PocketSphinxFiles {
  /** Name or path of `pocketsphinx_batch`. */
  readonly program: string;
  /** Folder with `en-us`, `en-us.lm.bin` and `cmudict-en-us.dict`. */
  readonly modelDir: string;
}

const ACOUSTIC_MODEL = 'en-us';
const LANGUAGE_MODEL = 'en-us.lm.bin';
const DICTIONARY = 'cmudict-en-us.dict';

/** Names of the utterances to recognise, one a line. */
const LIST = 'list';
const SAMPLES_ENDING = '.raw';

/** Measured at 0.2 of the audio's length; ten times as slow as real time means that it hangs. */
const TIMEOUT_BASE_MS = 30_000;
const TIMEOUT_PER_SECOND_MS = 10_000;
const START_TIMEOUT_MS = 10_000;
/** The loader's and the shell's words for "this cannot be run". */
const NOT_RUNNABLE = new Set<number | null>([126, 127]);

const LOG_TAIL_BYTES = 65_536;
const CAUSE_CHARACTERS = 1000;

/** Debian's `pocketsphinx_batch`, one child process per call. */
export class PocketSphinxProgram {
  constructor(
    private readonly files: PocketSphinxFiles,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `model_missing`, `engine_unavailable` */
  async check(signal: AbortSignal): Promise<void> {
    for (const file of [ACOUSTIC_MODEL, LANGUAGE_MODEL, DICTIONARY]) {
      await access(join(this.files.modelDir, file), constants.R_OK).catch((cause: unknown) => {
        throw new AppError('model_missing', { detail: `The speech model lacks ${file}`, cause });
      });
    }
    // It has no --version: without arguments it names its options and ends.
    await this.run([], START_TIMEOUT_MS, signal);
  }

  /**
   * Recognises a window, using `folder` for its files. Each stretch of sound is an utterance of its own:
   * with the pauses left in, the program takes the room for the speaker and gets half of the words wrong.
   * @returns words with times from the start of the whole audio
   * @throws AppError `engine_unavailable`, `engine_timeout`, `engine_failed`, `model_missing`
   */
  async recognize(window: WavWindow, folder: string, signal: AbortSignal): Promise<CtmWord[]> {
    signal.throwIfAborted();
    const beginnings = await writeUtterances(window, folder);
    if (beginnings.size === 0) {
      return [];
    }
    const [hypotheses, words, log] = ['text.hyp', 'words.ctm', 'log'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    await storing(Promise.all([hypotheses, words, log].map((file) => rm(file, { force: true }))));

    const { exitCode, stderr } = await this.run(
      [...this.modelArguments(), ...this.fileArguments(folder, hypotheses, words, log)],
      TIMEOUT_BASE_MS + TIMEOUT_PER_SECOND_MS * (window.endSeconds - window.startSeconds),
      signal,
    );
    // It ends with 0 even when it could not read its input; then the list entry is not answered.
    const answers = await contentOf(hypotheses);
    const answered = [...beginnings.keys()].every((id) => answers.includes(`(${id} `));
    if (exitCode !== 0 || !answered) {
      const complaints = await complaintsIn(log);
      throw new AppError(complaints.includes('init failed') ? 'model_missing' : 'engine_failed', {
        cause: new Error(
          `exit code ${exitCode}: ${complaints} ${stderr.slice(-CAUSE_CHARACTERS)}`.trim(),
        ),
      });
    }
    return readCtm(await contentOf(words), beginnings);
  }

  private modelArguments(): string[] {
    const { modelDir } = this.files;
    return [
      ...['-hmm', join(modelDir, ACOUSTIC_MODEL)],
      ...['-lm', join(modelDir, LANGUAGE_MODEL)],
      ...['-dict', join(modelDir, DICTIONARY)],
    ];
  }

  /**
   * Of the modes measured the one with the fewest wrong words whose times are true: the mean of the whole
   * utterance, wide beam. With its silence removal the clock stands still in every pause; without, it needs dither,
   * because it hears words in digital silence. The seed makes the noise the same each time.
   */
  private fileArguments(folder: string, hypotheses: string, words: string, log: string): string[] {
    return [
      ...['-adcin', 'yes', '-cepdir', folder, '-cepext', SAMPLES_ENDING],
      ...['-ctl', join(folder, LIST)],
      ...['-cmn', 'batch', '-remove_silence', 'no', '-dither', 'yes', '-seed', '1'],
      ...['-beam', '1e-60', '-wbeam', '1e-40', '-maxhmmpf', '-1'],
      ...['-hyp', hypotheses, '-ctm', words, '-logfn', log],
    ];
  }

  private async run(
    args: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ProgramRun> {
    const run = await runProgram(this.files.program, args, {
      clock: this.clock,
      totalMs: timeoutMs,
      signal,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new AppError('engine_unavailable', { cause: error });
    });
    if (run.timedOut) {
      throw new AppError('engine_timeout');
    }
    if (NOT_RUNNABLE.has(run.exitCode)) {
      const cause = new Error(run.stderr.slice(-CAUSE_CHARACTERS));
      throw new AppError('engine_unavailable', { cause });
    }
    if (run.killedBy !== null) {
      throw new AppError('engine_failed', { cause: new Error(`killed by ${run.killedBy}`) });
    }
    return run;
  }
}

/**
 * Writes the stretches of sound of a window as files and lists them.
 * @returns by name: the second of the whole audio at which it begins
 */
async function writeUtterances(
  { pcm, startSeconds }: WavWindow,
  folder: string,
): Promise<Map<string, number>> {
  const beginnings = new Map<string, number>();
  for (const [index, { from, to }] of soundingStretches(pcm).entries()) {
    const name = `u${index}`;
    await storing(writeFile(join(folder, `${name}${SAMPLES_ENDING}`), pcm.subarray(from, to)));
    beginnings.set(name, startSeconds + from / BYTES_PER_SECOND);
  }
  await storing(writeFile(join(folder, LIST), [...beginnings.keys()].join('\n') + '\n'));
  return beginnings;
}

/** A file that the program did not write counts as empty. */
const contentOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** Complaints among the log's last lines. The other lines may hold what was said. */
async function complaintsIn(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) {
    return '';
  }
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, LOG_TAIL_BYTES));
    const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
    return tail
      .toString('utf8', 0, bytesRead)
      .split('\n')
      .filter((line) => /^(ERROR|FATAL)/.test(line))
      .join('; ')
      .slice(-CAUSE_CHARACTERS);
  } finally {
    await file.close();
  }
}
