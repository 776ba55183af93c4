import type { BlobStore } from '../../../common/storage/blob-store.port';
import type { Recognizer } from '../../recognition';
import { Step, type StepContext, type StepOutcome } from '../application/step';
import type { ClaimedJob } from '../domain/job';
import { withSpeech } from './speech-request';

/** converted -> transcribe: hands the audio to the engine and keeps its receipt. */
export class DispatchStep extends Step {
  readonly worker = 'dispatch';
  readonly from = 'converted';

  constructor(
    private readonly blobs: BlobStore,
    private readonly recognizer: Recognizer,
  ) {
    super();
  }

  async perform(job: ClaimedJob, context: StepContext): Promise<StepOutcome> {
    return withSpeech(this.blobs, job, context.signal, async (request) => {
      const ticket = await this.recognizer.submit(request, context.signal);
      return {
        kind: 'advance',
        result: {
          to: 'transcribe',
          engine: ticket.engine,
          model: ticket.model,
          engineReference: ticket.reference,
        },
        undo: () => this.recognizer.forget(ticket),
      };
    });
  }
}
