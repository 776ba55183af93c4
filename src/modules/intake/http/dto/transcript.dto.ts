import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { WARNING_CODES } from '../../../pipeline';

export class TranscriptWordDto {
  @ApiProperty({ example: 'lights' })
  word!: string;

  @ApiProperty({ example: 1.32 })
  start_s!: number;

  @ApiProperty({ example: 1.71 })
  end_s!: number;
}

export class TranscriptSegmentDto {
  @ApiProperty({ example: 0 })
  index!: number;

  @ApiProperty({ example: 0.48 })
  start_s!: number;

  @ApiProperty({ example: 2.4 })
  end_s!: number;

  @ApiProperty({ example: 'turn on the lights' })
  text!: string;

  @ApiPropertyOptional({ minimum: 0, maximum: 1, example: 0.82 })
  confidence?: number;

  @ApiPropertyOptional({ type: [TranscriptWordDto] })
  words?: TranscriptWordDto[];
}

export class TranscriptWarningDto {
  @ApiProperty({ enum: WARNING_CODES, example: 'low_quality_engine' })
  code!: string;

  @ApiProperty({ example: 'PocketSphinx gets about a third of the words wrong' })
  detail!: string;

  @ApiPropertyOptional({ example: 12.5 })
  start_s?: number;

  @ApiPropertyOptional({ example: 14 })
  end_s?: number;
}

export class TranscriptDto {
  @ApiProperty({ format: 'uuid', example: '0193d4a2-6f3e-7c41-9d0a-5b1f2f3c4d5e' })
  recording_id!: string;

  @ApiProperty({ example: 'turn on the lights', description: 'Empty when nothing was said' })
  text!: string;

  @ApiProperty({ type: String, nullable: true, example: 'en' })
  language!: string | null;

  @ApiProperty({ example: 2.9 })
  duration_s!: number;

  @ApiProperty({ example: 'pocketsphinx' })
  engine!: string;

  @ApiProperty({ example: 'en-us' })
  model!: string;

  @ApiProperty({ type: [TranscriptSegmentDto] })
  segments!: TranscriptSegmentDto[];

  @ApiProperty({ type: [TranscriptWarningDto] })
  warnings!: TranscriptWarningDto[];
}
