import { ApiProperty } from '@nestjs/swagger';
import {
  JOB_STATES,
  SOURCES,
  type Job,
  type JobState,
  type ReplyState,
  type Source,
} from '../../../pipeline';

const EXAMPLE_ID = '0193d4a2-6f3e-7c41-9d0a-5b1f2f3c4d5e';

export class RecordingErrorDto {
  @ApiProperty({ example: 'not_media', description: 'Stable error code' })
  code!: string;

  @ApiProperty({ example: 'The file is not audio or video' })
  detail!: string;
}

export class RecordingDto {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_ID, description: 'UUIDv7' })
  id!: string;

  @ApiProperty({ enum: JOB_STATES, enumName: 'RecordingState', example: 'transcribe' })
  state!: JobState;

  @ApiProperty({ enum: SOURCES, example: 'http' })
  source!: Source;

  @ApiProperty({ example: 'voice note.ogg', description: 'As the sender named it' })
  filename!: string;

  @ApiProperty({ example: 'audio/ogg', description: 'As the sender claims' })
  media_type!: string;

  @ApiProperty({ example: 48_213 })
  size_bytes!: number;

  @ApiProperty({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' })
  sha256!: string;

  @ApiProperty({ type: Number, nullable: true, example: 7.42, description: 'Null until known' })
  duration_s!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'en',
    description: 'As given by the sender, then as recognised',
  })
  language!: string | null;

  @ApiProperty({ minimum: 0, maximum: 1, example: 0.4 })
  progress!: number;

  @ApiProperty({ example: 1, description: 'Claims of the current step' })
  attempts!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-12-01T09:30:00.000Z',
    description: 'When the current step may be tried (again); null once the recording has ended',
  })
  next_attempt_at!: string | null;

  @ApiProperty({ type: RecordingErrorDto, nullable: true })
  error!: RecordingErrorDto | null;

  @ApiProperty({ enum: ['none', 'pending', 'sent', 'undelivered'], example: 'none' })
  reply!: ReplyState;

  @ApiProperty({ type: String, nullable: true, example: 'pocketsphinx' })
  engine!: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'en-us' })
  model!: string | null;

  @ApiProperty({ format: 'date-time', example: '2026-12-01T09:30:00.000Z' })
  created_at!: string;

  @ApiProperty({ format: 'date-time', example: '2026-12-01T09:30:02.120Z' })
  updated_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  finished_at!: string | null;
}

export class ListMetaDto {
  @ApiProperty({ type: String, nullable: true, description: 'Pass as `cursor`; null at the end' })
  next_cursor!: string | null;
}

export class RecordingListDto {
  @ApiProperty({ type: [RecordingDto] })
  data!: RecordingDto[];

  @ApiProperty({ type: ListMetaDto })
  meta!: ListMetaDto;
}

export function asRecordingDto(job: Job): RecordingDto {
  return {
    id: job.id,
    state: job.state,
    source: job.source,
    filename: job.filename,
    media_type: job.mediaType,
    size_bytes: job.sizeBytes,
    sha256: job.sha256,
    duration_s: job.durationSeconds,
    language: job.language ?? job.requestedLanguage,
    progress: Math.round(job.progress * 1000) / 1000,
    attempts: job.attempts,
    next_attempt_at: job.finishedAt === null ? time(job.nextAttemptAt) : null,
    error: job.error,
    reply: job.reply,
    engine: job.engine,
    model: job.model,
    created_at: time(job.createdAt),
    updated_at: time(job.updatedAt),
    finished_at: job.finishedAt === null ? null : time(job.finishedAt),
  };
}

const time = (epochMs: number): string => new Date(epochMs).toISOString();
