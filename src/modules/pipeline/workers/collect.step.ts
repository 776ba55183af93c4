import { AppError } from '../../../common/errors/app-error';
import type { BlobStore } from '../../../common/storage/blob-store.port';
import { ENGINES, type RecognitionTicket, type Recognizer } from '../../recognition';
import { Step, type StepContext, type StepOutcome } from '../application/step';
import type { ClaimedJob } from '../domain/job';
import { recognitionProgress } from '../domain/progress';
import { withSpeech } from './speech-request';
import { asTranscript } from './transcript-of-result';

/** transcribe -> done: fetches the engine's answer. */
export class CollectStep extends Step {
  readonly worker = 'collect';
  readonly from = 'transcribe';

  constructor(
    private readonly blobs: BlobStore,
    private readonly recognizer: Recognizer,
  ) {
    super();
  }

  async perform(job: ClaimedJob, context: StepContext): Promise<StepOutcome> {
    const ticket = ticketOf(job);
    return withSpeech(this.blobs, job, context.signal, async (request): Promise<StepOutcome> => {
      const answer = await this.recognizer.collect(ticket, request, context.signal, (share) =>
        context.progress(recognitionProgress(share)),
      );
      if (answer.status === 'pending') {
        return {
          kind: 'wait',
          checkAfterMs: answer.checkAfterMs,
          progress: answer.progress === null ? null : recognitionProgress(answer.progress),
        };
      }
      return {
        kind: 'advance',
        result: { to: 'done', transcript: asTranscript(job, ticket, request, answer.result) },
      };
    });
  }
}

/** @throws AppError `engine_unavailable` when the engine is not part of this version */
function ticketOf(job: ClaimedJob): RecognitionTicket {
  const engine = ENGINES.find((name) => name === job.engine);
  if (engine === undefined || job.model === null) {
    throw new AppError('engine_unavailable');
  }
  return { engine, model: job.model, reference: job.engineReference ?? '' };
}
