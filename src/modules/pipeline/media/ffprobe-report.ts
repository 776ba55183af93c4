import { z } from 'zod';
import { AppError } from '../../../common/errors/app-error';
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
      }),
    )
    .default([]),
  format: z
    .object({ format_name: z.string().optional(), duration: number, probe_score: number })
    .default({}),
});

export interface ProbeReport extends MediaProbe {
  /** How sure ffprobe is of the container, 0..100. */
  readonly score: number;
}

/** @throws AppError `not_media` (no streams at all), `no_audio_stream` */
export function readProbeReport(json: string): ProbeReport {
  const { streams, format } = parse(json);
  const audio = streams.find(({ codec_type }) => codec_type === 'audio');
  if (audio === undefined) {
    throw new AppError(streams.length === 0 ? 'not_media' : 'no_audio_stream');
  }
  const duration = format.duration ?? audio.duration;
  return {
    durationSeconds: duration !== undefined && duration > 0 ? duration : null,
    channels: audio.channels ?? 1,
    startSeconds: Math.max(0, audio.start_time ?? 0),
    codec: audio.codec_name ?? 'unknown',
    format: format.format_name ?? 'unknown',
    score: format.probe_score ?? 0,
  };
}

function parse(json: string): z.infer<typeof reportSchema> {
  try {
    return reportSchema.parse(JSON.parse(json));
  } catch (cause) {
    throw new AppError('not_media', { cause });
  }
}
