import { z } from 'zod';
import { AppError } from '../../../common/errors/app-error';
import { unavailable } from './ffmpeg-failure';
import type { MediaProbe } from './media-converter.port';

const number = z.coerce.number().optional().catch(undefined);

const reportSchema = z.object({
  streams: z
    .array(
      z.object({
        codec_type: z.string().optional(),
        codec_name: z.string().optional(),
        channels: number,
        start_time: number,
        duration: number,
        tags: z.object({ DURATION: z.string().optional() }).optional(),
      }),
    )
    .default([]),
  format: z
    .object({ format_name: z.string().optional(), duration: number, start_time: number })
    .default({}),
});

type Report = z.infer<typeof reportSchema>;

/** In these ffmpeg counts from the first sound, wherever the picture starts. */
const COUNTED_FROM_AUDIO = new Set(['mpegts', 'mpeg']);

/** Frames without a container: ffprobe guesses their length from the first bit rates, often wrongly. */
const LENGTH_GUESSED = new Set(['aac', 'ac3', 'amr', 'amrnb', 'amrwb']);

/** @throws AppError `not_media` (no streams at all), `no_audio_stream`, `converter_unavailable` */
export function readProbeReport(json: string): MediaProbe {
  const { streams, format } = parse(json);
  const audio = streams.find(({ codec_type }) => codec_type === 'audio');
  if (audio === undefined) {
    throw new AppError(streams.length === 0 ? 'not_media' : 'no_audio_stream');
  }
  const name = format.format_name ?? 'unknown';
  const startSeconds = COUNTED_FROM_AUDIO.has(name)
    ? 0
    : Math.max(0, (audio.start_time ?? 0) - (format.start_time ?? 0));
  return {
    durationSeconds: LENGTH_GUESSED.has(name) ? null : lengthOf(audio, format, startSeconds),
    channels: audio.channels ?? 1,
    startSeconds,
    codec: audio.codec_name ?? 'unknown',
    format: name,
  };
}

/** The sound may be shorter than its video: then the container's length is not ours. */
function lengthOf(
  audio: Report['streams'][number],
  format: Report['format'],
  startSeconds: number,
): number | null {
  const sounding = positive(audio.duration) ?? positive(secondsOf(audio.tags?.DURATION));
  return sounding === undefined ? (positive(format.duration) ?? null) : startSeconds + sounding;
}

const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined;

/** Matroska's `00:00:05.008000000` in seconds. */
function secondsOf(text: string | undefined): number | undefined {
  const [hours, minutes, seconds] = (text ?? '').split(':').map(Number);
  const total = (hours ?? NaN) * 3600 + (minutes ?? NaN) * 60 + (seconds ?? NaN);
  return Number.isFinite(total) ? total : undefined;
}

function parse(json: string): Report {
  try {
    return reportSchema.parse(JSON.parse(json));
  } catch (cause) {
    throw unavailable(cause);
  }
}
