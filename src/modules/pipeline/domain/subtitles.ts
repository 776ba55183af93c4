import type { Transcript, TranscriptSegment } from './transcript';

/** SubRip. Empty when nothing was said. */
export function asSrt(transcript: Transcript): string {
  return transcript.segments
    .map((segment, position) => `${position + 1}\n${span(segment, ',')}\n${lines(segment.text)}\n`)
    .join('\n');
}

/** WebVTT; the header stands there also when nothing was said. */
export function asVtt(transcript: Transcript): string {
  const cues = transcript.segments.map(
    (segment) => `${span(segment, '.')}\n${escapeVtt(lines(segment.text))}\n`,
  );
  return ['WEBVTT\n', ...cues].join('\n');
}

function span(segment: TranscriptSegment, decimalMark: string): string {
  return `${timestamp(segment.start_s, decimalMark)} --> ${timestamp(segment.end_s, decimalMark)}`;
}

/** HH:MM:SS and milliseconds; the hours grow beyond 99 when they must. */
export function timestamp(seconds: number, decimalMark: string): string {
  const total = Math.round(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(total / 3_600_000);
  const minutes = Math.floor(total / 60_000) % 60;
  const wholeSeconds = Math.floor(total / 1000) % 60;
  const milliseconds = String(total % 1000).padStart(3, '0');
  return `${two(hours)}:${two(minutes)}:${two(wholeSeconds)}${decimalMark}${milliseconds}`;
}

/** A blank line would end the cue. */
function lines(text: string): string {
  return text.replace(/\s*\n\s*/g, '\n').trim();
}

function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
