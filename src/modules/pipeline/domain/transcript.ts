export interface TranscriptWord {
  readonly word: string;
  readonly start_s: number;
  readonly end_s: number;
}

export interface TranscriptSegment {
  readonly index: number;
  readonly start_s: number;
  readonly end_s: number;
  readonly text: string;
  readonly confidence?: number;
  readonly words?: readonly TranscriptWord[];
}

export const WARNING_CODES = [
  'truncated_media',
  'dropped_span',
  'repetition_removed',
  'language_unsupported',
  'low_quality_engine',
] as const;

export interface TranscriptWarning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly detail: string;
  readonly start_s?: number;
  readonly end_s?: number;
}

/** What was said, as stored and as served (names and units are contract: seconds from the start). */
export interface Transcript {
  readonly recording_id: string;
  readonly text: string;
  readonly language: string | null;
  readonly duration_s: number;
  readonly engine: string;
  readonly model: string;
  readonly segments: readonly TranscriptSegment[];
  readonly warnings: readonly TranscriptWarning[];
}
