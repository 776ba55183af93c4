/** Share of a job's progress that is reached with the conversion; recognition is by far the longer part. */
export const CONVERTED_SHARE = 0.1;

/** Progress of a job whose recognition has done `share` (0..1) of its audio. */
export function recognitionProgress(share: number): number {
  const bounded = Math.min(1, Math.max(0, share));
  return CONVERTED_SHARE + (1 - CONVERTED_SHARE) * bounded * 0.99; // 1 is for done alone
}

/** Progress of a job whose conversion has written `seconds` of a claimed `durationSeconds`. */
export function conversionProgress(seconds: number, durationSeconds: number | null): number {
  if (durationSeconds === null || durationSeconds <= 0) {
    return 0;
  }
  return CONVERTED_SHARE * Math.min(1, seconds / durationSeconds);
}
