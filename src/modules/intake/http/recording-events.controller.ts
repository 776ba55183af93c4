import {
  Controller,
  Get,
  Inject,
  Param,
  Req,
  Res,
  UseGuards,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock, type CancelTimer } from '../../../common/clock/clock';
import { PipelineEvents, PipelineFacade } from '../../pipeline';
import { ApiKeyGuard } from './api-key.guard';
import { KnownInputGuard } from './known-input.guard';
import { RecordingIdPipe } from './recording-id.pipe';
import { EVENT_STREAM, RecordingStream } from './recording-stream';
import { DescribeController, DescribeEvents } from './recordings.openapi';

/** Another process may be doing the work; its changes are only seen by looking. */
const LOOK_MS = 2000;

@DescribeController()
@UseGuards(ApiKeyGuard, KnownInputGuard)
@Controller('v1/recordings')
export class RecordingEventsController implements OnModuleDestroy {
  private readonly streams = new Set<RecordingStream>();

  constructor(
    @Inject(PipelineFacade) private readonly pipeline: PipelineFacade,
    @Inject(PipelineEvents) private readonly events: PipelineEvents,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Get(':id/events')
  @DescribeEvents()
  async follow(
    @Param('id', RecordingIdPipe) id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const job = await this.pipeline.get(id);
    if (request.method === 'HEAD') {
      await reply.header('content-type', EVENT_STREAM).send();
      return;
    }
    reply.hijack();
    const cleanUps: (() => void)[] = [];
    const stream = new RecordingStream(
      reply.raw,
      this.clock,
      lastEventId(request.headers['last-event-id']),
      () => {
        this.streams.delete(stream);
        for (const cleanUp of cleanUps.splice(0)) {
          cleanUp();
        }
      },
    );
    this.streams.add(stream);
    cleanUps.push(
      this.events.on('changed', (changed) => {
        if (changed.id === id) {
          stream.show(changed);
        }
      }),
      this.events.on('progress', ({ jobId, progress }) => {
        if (jobId === id) {
          stream.progress(progress);
        }
      }),
      this.events.on('deleted', (deleted) => {
        if (deleted.id === id) {
          stream.finish();
        }
      }),
      this.lookNowAndThen(id, stream),
    );
    stream.show(job);
  }

  onModuleDestroy(): void {
    for (const stream of this.streams) {
      stream.finish();
    }
  }

  private lookNowAndThen(id: string, stream: RecordingStream): () => void {
    let stopped = false;
    let cancel: CancelTimer = () => undefined;
    const look = async (): Promise<void> => {
      // A recording that is gone ends the stream; a storage that does not answer is asked again.
      const job = await this.pipeline.get(id).catch(() => null);
      if (job !== null && !stopped) {
        stream.show(job);
      }
      if (!stopped) {
        arm();
      }
    };
    const arm = (): void => {
      cancel = this.clock.after(LOOK_MS, () => void look());
    };
    arm();
    return () => {
      stopped = true;
      cancel();
    };
  }
}

const lastEventId = (header: string | string[] | undefined): number =>
  typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : 0;
