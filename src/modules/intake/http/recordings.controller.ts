import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../../common/errors/app-error';
import { JOB_STATES, PipelineFacade, SOURCES } from '../../pipeline';
import { ApiKeyGuard } from './api-key.guard';
import { requestedRange } from './audio-range';
import { decodeCursor, encodeCursor } from './cursor';
import { asRecordingDto, type RecordingDto, type RecordingListDto } from './dto/recording.dto';
import { attachmentHeader, servedMediaType } from './file-description';
import { KnownInputGuard, QueryParameters, ReadsItsBody } from './known-input.guard';
import { RecordingIdPipe } from './recording-id.pipe';
import {
  DescribeAudio,
  DescribeCancel,
  DescribeController,
  DescribeDelete,
  DescribeGet,
  DescribeList,
  DescribeRetry,
  DescribeTranscript,
  DescribeUpload,
} from './recordings.openapi';
import { chooseFormat, render } from './transcript-format';
import { UploadRecording } from './upload-recording';

const DEFAULT_LIMIT = 50;
const LARGEST_LIMIT = 200;

/** /v1/recordings. It only translates between HTTP and the pipeline; there are no rules here. */
@DescribeController()
@UseGuards(ApiKeyGuard, KnownInputGuard)
@Controller('v1/recordings')
export class RecordingsController {
  constructor(
    @Inject(PipelineFacade) private readonly pipeline: PipelineFacade,
    @Inject(UploadRecording) private readonly uploads: UploadRecording,
  ) {}

  @Post()
  @HttpCode(202)
  @ReadsItsBody()
  @DescribeUpload()
  async upload(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RecordingDto> {
    const { job, created } = await this.uploads.upload(request);
    void reply.status(created ? 202 : 200).header('location', `/v1/recordings/${job.id}`);
    return asRecordingDto(job);
  }

  @Get()
  @QueryParameters('state', 'source', 'limit', 'cursor')
  @DescribeList()
  async list(@Query() query: Readonly<Record<string, string>>): Promise<RecordingListDto> {
    const state = oneOf('state', query['state'], JOB_STATES);
    const source = oneOf('source', query['source'], SOURCES);
    const cursor = query['cursor'];
    const page = await this.pipeline.list(
      { ...(state === undefined ? {} : { state }), ...(source === undefined ? {} : { source }) },
      limitOf(query['limit']),
      cursor === undefined ? null : decodeCursor(cursor),
    );
    return {
      data: page.jobs.map(asRecordingDto),
      meta: { next_cursor: page.next === null ? null : encodeCursor(page.next) },
    };
  }

  @Get(':id')
  @DescribeGet()
  async get(@Param('id', RecordingIdPipe) id: string): Promise<RecordingDto> {
    return asRecordingDto(await this.pipeline.get(id));
  }

  @Get(':id/transcript')
  @QueryParameters('format')
  @DescribeTranscript()
  async transcript(
    @Param('id', RecordingIdPipe) id: string,
    @Query('format') parameter: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const format = chooseFormat(parameter, request.raw);
    const { contentType, body } = render(await this.pipeline.transcript(id), format);
    await reply.header('content-type', contentType).header('vary', 'accept').send(body);
  }

  @Get(':id/audio')
  @DescribeAudio()
  async audio(
    @Param('id', RecordingIdPipe) id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { job, sizeBytes } = await this.pipeline.audioSize(id);
    void reply
      .header('accept-ranges', 'bytes')
      .header('content-type', servedMediaType(job.mediaType))
      .header('content-disposition', attachmentHeader(job.filename))
      .header('x-content-type-options', 'nosniff');
    const range = requestedRange(request.headers.range, sizeBytes);
    if (range === null) {
      await reply.status(416).header('content-range', `bytes */${sizeBytes}`).send();
      return;
    }
    if (range !== undefined) {
      void reply
        .status(206)
        .header('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
    }
    const length = range === undefined ? sizeBytes : range.end - range.start + 1;
    await reply
      .header('content-length', String(length))
      .send(await this.pipeline.readAudio(id, range));
  }

  @Post(':id/retry')
  @HttpCode(202)
  @DescribeRetry()
  async retry(@Param('id', RecordingIdPipe) id: string): Promise<RecordingDto> {
    return asRecordingDto(await this.pipeline.retry(id));
  }

  @Post(':id/cancel')
  @HttpCode(202)
  @DescribeCancel()
  async cancel(@Param('id', RecordingIdPipe) id: string): Promise<RecordingDto> {
    return asRecordingDto(await this.pipeline.cancel(id));
  }

  @Delete(':id')
  @HttpCode(204)
  @DescribeDelete()
  async delete(@Param('id', RecordingIdPipe) id: string): Promise<void> {
    await this.pipeline.delete(id);
  }
}

function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value === undefined) {
    return undefined;
  }
  const found = allowed.find((each) => each === value);
  if (found === undefined) {
    throw new AppError('invalid_parameter', {
      detail: `${name} must be one of ${allowed.join(', ')}`,
      parameter: name,
    });
  }
  return found;
}

function limitOf(value: string | undefined): number {
  const limit = value === undefined ? DEFAULT_LIMIT : Number(value);
  if (!/^\d+$/.test(value ?? '1') || limit < 1 || limit > LARGEST_LIMIT) {
    throw new AppError('invalid_parameter', {
      detail: `limit must be a whole number from 1 to ${LARGEST_LIMIT}`,
      parameter: 'limit',
    });
  }
  return limit;
}
