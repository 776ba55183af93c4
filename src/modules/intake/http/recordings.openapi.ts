import { applyDecorators } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiHeader,
  ApiNoContentResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiQuery,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApiProblems, ProblemDto } from '../../../common/http/problem.dto';
import { JOB_STATES, SOURCES } from '../../pipeline';
import { RecordingDto, RecordingListDto } from './dto/recording.dto';
import { TranscriptDto } from './dto/transcript.dto';
import { TRANSCRIPT_FORMATS } from './transcript-format';

/** What Swagger UI and /openapi.json say about /v1/recordings; kept apart so that the controller stays readable. */

const Id = () =>
  ApiParam({ name: 'id', format: 'uuid', example: '0193d4a2-6f3e-7c41-9d0a-5b1f2f3c4d5e' });
const binary = { schema: { type: 'string', format: 'binary' } } as const;
const plain = { schema: { type: 'string' } } as const;

const location = {
  Location: { description: 'Address of the recording', schema: { type: 'string' } },
} as const;

export const DescribeController = () =>
  applyDecorators(
    ApiTags('recordings'),
    ApiBearerAuth(),
    ApiExtraModels(ProblemDto, TranscriptDto),
    ApiProblems('unauthorized', 'invalid_parameter', 'internal', 'storage_unavailable'),
  );

export const DescribeUpload = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'createRecording',
      summary: 'Hand in a recording',
      description:
        'The file is streamed to storage. 202 means: the bytes are on disk and the recording will ' +
        'be transcribed, whatever happens to this process.',
    }),
    ApiConsumes('multipart/form-data'),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'The same key again gives the same recording; with other bytes 409',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
    ApiBody({
      schema: {
        type: 'object',
        required: ['file'],
        properties: {
          file: { type: 'string', format: 'binary', description: 'Audio or video' },
          language: {
            type: 'string',
            example: 'en',
            description: 'Language code; without it the engine decides',
          },
          prompt: { type: 'string', maxLength: 4096, description: 'Words to expect' },
        },
      },
    }),
    ApiResponse({ status: 202, type: RecordingDto, description: 'Accepted', headers: location }),
    ApiResponse({
      status: 200,
      type: RecordingDto,
      description: 'Accepted earlier with this Idempotency-Key',
      headers: location,
    }),
    ApiProblems(
      'invalid_parameter',
      'missing_file',
      'empty_file',
      'idempotency_conflict',
      'payload_too_large',
      'unsupported_media_type',
      'storage_full',
      'shutting_down',
      'storage_unavailable',
    ),
  );

export const DescribeList = () =>
  applyDecorators(
    ApiOperation({ operationId: 'listRecordings', summary: 'Recordings, newest first' }),
    ApiQuery({ name: 'state', enum: JOB_STATES, required: false }),
    ApiQuery({ name: 'source', enum: SOURCES, required: false }),
    ApiQuery({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    }),
    ApiQuery({ name: 'cursor', type: String, required: false }),
    ApiResponse({ status: 200, type: RecordingListDto }),
    ApiProblems('invalid_parameter'),
  );

export const DescribeGet = () =>
  applyDecorators(
    ApiOperation({ operationId: 'getRecording', summary: 'One recording' }),
    Id(),
    ApiResponse({ status: 200, type: RecordingDto }),
    ApiProblems('not_found'),
  );

export const DescribeTranscript = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'getTranscript',
      summary: 'What was said',
      description: 'The format is chosen by the parameter, else by the Accept header, else JSON.',
    }),
    Id(),
    ApiQuery({ name: 'format', enum: TRANSCRIPT_FORMATS, required: false }),
    ApiResponse({
      status: 200,
      description: 'The transcript',
      content: {
        'application/json': { schema: { $ref: getSchemaPath(TranscriptDto) } },
        'text/plain': plain,
        'application/x-subrip': plain,
        'text/vtt': plain,
      },
    }),
    ApiProblems('not_found', 'not_ready', 'no_transcript', 'invalid_parameter'),
  );

export const DescribeAudio = () =>
  applyDecorators(
    ApiOperation({ operationId: 'getAudio', summary: 'The original file' }),
    Id(),
    ApiHeader({ name: 'Range', required: false, example: 'bytes=0-1023' }),
    ApiProduces('application/octet-stream'),
    ApiResponse({
      status: 200,
      description: 'The whole file',
      content: { 'application/octet-stream': binary },
    }),
    ApiResponse({
      status: 206,
      description: 'The part asked for',
      content: { 'application/octet-stream': binary },
    }),
    ApiResponse({ status: 416, description: 'The range lies outside the file' }),
    ApiProblems('not_found', 'audio_expired'),
  );

export const DescribeRetry = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'retryRecording',
      summary: 'Start again from the beginning',
      description: 'For recordings that are failed, dead or cancelled.',
    }),
    Id(),
    ApiResponse({ status: 202, type: RecordingDto }),
    ApiProblems('not_found', 'not_retryable'),
  );

export const DescribeCancel = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'cancelRecording',
      summary: 'Call the recording off',
      description: 'A step under way is stopped. The recording and its audio stay.',
    }),
    Id(),
    ApiResponse({ status: 202, type: RecordingDto }),
    ApiProblems('not_found', 'not_cancellable'),
  );

export const DescribeDelete = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'deleteRecording',
      summary: 'Remove the recording, its transcript and its audio',
      description: 'Also while a step is under way.',
    }),
    Id(),
    ApiNoContentResponse({ description: 'Removed' }),
    ApiProblems('not_found'),
  );

export const DescribeEvents = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'followRecording',
      summary: 'Follow a recording (server-sent events)',
      description:
        'First `state` with the recording as it is, then `state` and `progress`, at last `done` ' +
        'with the recording, whatever terminal state it is in; then the stream ends.',
    }),
    Id(),
    ApiHeader({ name: 'Last-Event-ID', required: false }),
    ApiProduces('text/event-stream'),
    ApiResponse({
      status: 200,
      description: 'The stream',
      content: {
        'text/event-stream': {
          schema: { type: 'string' },
          example: 'id: 1764581400000\nevent: progress\ndata: {"progress":0.42}\n\n',
        },
      },
    }),
    ApiProblems('not_found'),
  );
