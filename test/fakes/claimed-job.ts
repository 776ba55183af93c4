import { PollId } from '../../src/common/errors/noop';
import type { ClaimedJob, Job, NewJob } from '../../src/modules/pipeline/domain/job';
import type { WorkingState } from '../../src/modules/pipeline/domain/job-state';
import { FakeClock } from './fake-clock';
import { InMemoryJobRepository } from './in-memory-job.repository';
import { newJob, TestIds } from './test-jobs';

/** A job as a step gets it, in `state`, with these columns. */
export async function claimedJob(
  state: WorkingState,
  change: Partial<Job> = {},
  given: Partial<NewJob> = {},
): Promise<ClaimedJob> {
  const repository = new InMemoryJobRepository(new FakeClock());
  const { job } = await repository.create(newJob(new TestIds().next(), given));
  const entry = repository.entries.get(job.id);
  if (entry === undefined) {
    throw new Error('no such job');
  }
  entry.job = { ...job, ...change, state };
  const answer = await repository.poll(state, new PollId('test'), 60_000, 5);
  if (answer.kind !== 'claimed') {
    throw new Error('expected a claim');
  }
  return answer.job;
}
