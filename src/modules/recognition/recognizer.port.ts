/** Names of engines as they stand on transcripts and metric labels; a closed set. */
export const ENGINES = ['sherpa', 'openai', 'pocketsphinx'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface RecognizedWord {
  readonly word: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface RecognizedSegment {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly text: string;
  /** 0..1 where the engine gives one. */
  readonly confidence?: number;
  readonly words?: readonly RecognizedWord[];
}

export type RecognitionWarningCode =
  'dropped_span' | 'repetition_removed' | 'language_unsupported' | 'low_quality_engine';

export interface RecognitionWarning {
  readonly code: RecognitionWarningCode;
  readonly detail: string;
  readonly startSeconds?: number;
  readonly endSeconds?: number;
}

/** Times are seconds from the start of the audio handed in, rising, within its duration. Silence: no segments. */
export interface RecognitionResult {
  readonly segments: readonly RecognizedSegment[];
  /** ISO-639-1, or null when the engine does not say. */
  readonly language: string | null;
  readonly warnings: readonly RecognitionWarning[];
}

export interface RecognitionRequest {
  /** The recording's id; engines may use it to find work they already accepted. */
  readonly recordingId: string;
  /** 16 kHz mono s16le WAV with a 44-byte header, on this machine, readable until the call ends. */
  readonly audioPath: string;
  readonly durationSeconds: number;
  /** ISO-639-1 as given by the sender, or null to detect. */
  readonly language: string | null;
  /** Words to expect, or null. */
  readonly prompt: string | null;
}

/**
 * Receipt for submitted work, kept in the job's row so that another process, or the same one after a
 * crash, can collect with it. `reference` belongs to the engine alone: an engine on another machine
 * puts its job id there, an engine that works while it is collected leaves it empty.
 */
export interface RecognitionTicket {
  readonly engine: EngineName;
  readonly model: string;
  readonly reference: string;
}

export type RecognitionAnswer =
  | { readonly status: 'ready'; readonly result: RecognitionResult }
  /** Still being worked on elsewhere: ask again after `checkAfterMs`. Costs the job no attempt. */
  | { readonly status: 'pending'; readonly checkAfterMs: number; readonly progress: number | null };

/**
 * A speech engine. It fits engines that answer at once, that take an hour, and that run on another
 * machine: `submit` hands the work in, `collect` fetches it, both may be repeated after a crash and
 * then either continue or start over. Every adapter passes test/contracts/recognizer.contract.ts.
 *
 * Abort: both stop all work and every child process, then throw the signal's reason.
 * @throws AppError `engine_unavailable`, `engine_failed`, `engine_timeout`, `model_missing`,
 * `language_unsupported`
 */
export abstract class Recognizer {
  abstract submit(request: RecognitionRequest, signal: AbortSignal): Promise<RecognitionTicket>;

  /** @param onProgress told the share done, 0..1, rising */
  abstract collect(
    ticket: RecognitionTicket,
    request: RecognitionRequest,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<RecognitionAnswer>;

  /** Forgets submitted work that nobody will collect (cancelled, deleted). Never throws. */
  abstract forget(ticket: RecognitionTicket): Promise<void>;

  /** Can it recognise right now? @throws AppError `engine_unavailable`, `model_missing` */
  abstract check(): Promise<void>;
}
