import type { Job } from '../domain/job';
import type { StepResult } from '../persistence/job.repository.port';

/** Does this row carry this very step's result? Asked when the answer to the write was lost. */
export function carries(job: Job, result: StepResult): boolean {
  switch (result.to) {
    case 'converted':
      return job.speechKey === result.speechKey; // named after the claim, so nobody else's
    case 'transcribe':
      return (
        job.engine === result.engine &&
        job.model === result.model &&
        job.engineReference === result.engineReference
      );
    case 'done':
      return job.state === 'done';
  }
}
