import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../common/clock/clock';
import type { CancelTimer } from '../../../common/clock/clock';
import { isTerminal, type Job } from '../../pipeline';
import { asRecordingDto } from './dto/recording.dto';

/** Proxies close a silent connection; the contract promises a sign of life at least every 15 s. */
const HEARTBEAT_MS = 10_000;

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

type Message = { readonly event: 'state' | 'progress' | 'done'; readonly data: unknown };

/**
 * One client's view of one recording as server-sent events. What a slow client has not yet taken is
 * replaced by what is newer, so the buffer never holds more than one message of each kind.
 */
export class RecordingStream {
  private readonly waiting = new Map<Message['event'], Message>();
  private lastState = '';
  private lastProgress = -1;
  private blocked = false;
  private finished = false;
  private cancelHeartbeat: CancelTimer = () => undefined;

  /** @param lastId id of the last event the client has seen, 0 for a new one; ids only grow */
  constructor(
    private readonly response: ServerResponse,
    private readonly clock: Clock,
    private lastId: number,
    private readonly onEnd: () => void,
  ) {
    response.writeHead(200, {
      'content-type': EVENT_STREAM,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.on('drain', () => {
      this.blocked = false;
      this.flush();
    });
    response.on('close', () => this.end());
    this.heartbeat();
  }

  /** Shows the recording as it is now; repeats are left out. A terminal state ends the stream. */
  show(job: Job): void {
    const recording = asRecordingDto(job);
    // Not `updatedAt`: every renewal of a claim moves it.
    const state = `${job.state} ${job.attempts} ${job.nextAttemptAt} ${job.error?.code ?? ''}`;
    if (state === this.lastState) {
      this.progress(job.progress);
    } else {
      this.lastState = state;
      this.lastProgress = job.progress;
      this.put({ event: 'state', data: recording });
    }
    if (isTerminal(job.state)) {
      this.put({ event: 'done', data: recording });
      this.finish();
    }
  }

  progress(progress: number): void {
    if (progress > this.lastProgress) {
      this.lastProgress = progress;
      this.put({ event: 'progress', data: { progress: Math.round(progress * 1000) / 1000 } });
    }
  }

  /** Ends the stream after what is still waiting. */
  finish(): void {
    this.finished = true;
    this.flush();
  }

  private put(message: Message): void {
    if (!this.finished) {
      this.waiting.delete(message.event); // the newer one comes later
      this.waiting.set(message.event, message);
      this.flush();
    }
  }

  private flush(): void {
    for (const [event, { data }] of this.waiting) {
      if (this.blocked) {
        return;
      }
      this.waiting.delete(event);
      this.lastId = Math.max(this.lastId + 1, Math.floor(this.clock.now()));
      this.write(`id: ${this.lastId}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    }
    if (this.finished && !this.response.writableEnded) {
      this.response.end();
      this.end();
    }
  }

  private heartbeat(): void {
    this.cancelHeartbeat = this.clock.after(HEARTBEAT_MS, () => {
      if (!this.blocked) {
        this.write(': still here\n\n');
      }
      this.heartbeat();
    });
  }

  private write(text: string): void {
    this.blocked = !this.response.write(text);
  }

  private end(): void {
    this.finished = true;
    this.waiting.clear();
    this.cancelHeartbeat();
    this.onEnd();
  }
}
