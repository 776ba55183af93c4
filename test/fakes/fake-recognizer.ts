import type { AppError } from '../../src/common/errors/app-error';
import {
  Recognizer,
  type RecognitionAnswer,
  type RecognitionRequest,
  type RecognitionResult,
  type RecognitionTicket,
} from '../../src/modules/recognition/recognizer.port';

export interface RecognizerCall {
  readonly request: RecognitionRequest;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

/** What one call does before its answer. A behaviour that throws makes the call fail. */
export type RecognizerBehaviour = (call: RecognizerCall) => Promise<RecognitionAnswer | undefined>;

export const resultOf = (text: string): RecognitionResult => ({
  segments: text === '' ? [] : [{ startSeconds: 0, endSeconds: 1, text }],
  language: 'en',
  warnings: [],
});

/** The work is finished. */
export const answers =
  (result: RecognitionResult): RecognizerBehaviour =>
  async () => ({ status: 'ready', result });

/** The work goes on elsewhere. */
export const pending =
  (checkAfterMs: number, progress: number | null = null): RecognizerBehaviour =>
  async () => ({ status: 'pending', checkAfterMs, progress });

/** The call fails, usually with an {@link AppError}. */
export const fails =
  (error: AppError | Error): RecognizerBehaviour =>
  async () => {
    throw error;
  };

/** Reports these shares, then does `then` (or answers as usual). */
export const reports =
  (shares: readonly number[], then?: RecognizerBehaviour): RecognizerBehaviour =>
  async (call) => {
    shares.forEach(call.onProgress);
    return then?.(call);
  };

/** A place where a call waits until the test lets it go on, or its signal aborts. */
export class Hold {
  private enter: () => void = () => undefined;
  private open: () => void = () => undefined;
  /** Resolves when a call has arrived. */
  readonly entered = new Promise<void>((resolve) => {
    this.enter = resolve;
  });
  private readonly released = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  release(): void {
    this.open();
  }

  /** Waits here, then does `then` (or answers as usual). */
  behaviour(then?: RecognizerBehaviour): RecognizerBehaviour {
    return async (call) => {
      this.enter();
      await orAborted(this.released, call.signal);
      return then?.(call);
    };
  }
}

/**
 * A speech engine that does what a test tells it. Behaviours are used up one a call, in order; with
 * none left, `submit` gives {@link ticket} and `collect` answers {@link result}.
 */
export class FakeRecognizer extends Recognizer {
  ticket: RecognitionTicket = { engine: 'sherpa', model: 'fake', reference: '' };
  result: RecognitionResult = resultOf('hello world');
  /** What `check` throws; undefined: the engine is well. */
  unwell: AppError | undefined;
  /** Requests handed in, in order, whatever became of them. */
  readonly submitted: RecognitionRequest[] = [];
  readonly collected: { ticket: RecognitionTicket; request: RecognitionRequest }[] = [];
  readonly forgotten: RecognitionTicket[] = [];
  checks = 0;
  /** Calls that ended because their signal aborted. */
  aborted = 0;
  /** Calls under way, and the most there ever were at once. */
  running = 0;
  mostRunning = 0;

  private readonly submits: RecognizerBehaviour[] = [];
  private readonly collects: RecognizerBehaviour[] = [];

  onSubmit(...behaviours: readonly RecognizerBehaviour[]): this {
    this.submits.push(...behaviours);
    return this;
  }

  onCollect(...behaviours: readonly RecognizerBehaviour[]): this {
    this.collects.push(...behaviours);
    return this;
  }

  async submit(request: RecognitionRequest, signal: AbortSignal): Promise<RecognitionTicket> {
    this.submitted.push(request);
    await this.perform(this.submits.shift(), { request, signal, onProgress: () => undefined });
    return this.ticket;
  }

  async collect(
    ticket: RecognitionTicket,
    request: RecognitionRequest,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<RecognitionAnswer> {
    this.collected.push({ ticket, request });
    const answer = await this.perform(this.collects.shift(), { request, signal, onProgress });
    return answer ?? { status: 'ready', result: this.result };
  }

  async forget(ticket: RecognitionTicket): Promise<void> {
    this.forgotten.push(ticket);
  }

  async check(): Promise<void> {
    this.checks += 1;
    if (this.unwell !== undefined) {
      throw this.unwell;
    }
  }

  private async perform(
    behaviour: RecognizerBehaviour | undefined,
    call: RecognizerCall,
  ): Promise<RecognitionAnswer | undefined> {
    call.signal.throwIfAborted();
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      return await behaviour?.(call);
    } finally {
      this.running -= 1;
      if (call.signal.aborted) {
        this.aborted += 1;
      }
    }
  }
}

/** Resolves with `work`, or rejects with the signal's reason as soon as it aborts. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    void work.then(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}
