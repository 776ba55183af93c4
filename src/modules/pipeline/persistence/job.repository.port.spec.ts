import { describeJobRepositoryContract } from '../../../../test/contracts/job-repository.contract';
import { FakeClock } from '../../../../test/fakes/fake-clock';
import { InMemoryJobRepository } from '../../../../test/fakes/in-memory-job.repository';

// The fake that unit tests of the pipeline stand on must not be kinder than the real queue.
describeJobRepositoryContract('InMemoryJobRepository', async () => {
  const repository = new InMemoryJobRepository(new FakeClock());
  const entryOf = (id: string) => {
    const entry = repository.entries.get(id);
    if (entry === undefined) {
      throw new Error('no such row');
    }
    return entry;
  };
  return {
    repository,
    other: repository,
    makeDue: async (id, at = 0) => {
      const entry = entryOf(id);
      entry.job = { ...entry.job, nextAttemptAt: at };
    },
    expireClaim: async (id) => {
      const entry = entryOf(id);
      entry.claim = entry.claim && { ...entry.claim, expiresAt: 0 };
    },
    rows: async () =>
      [...repository.entries.values()].map(({ job, claim }) => ({
        id: job.id,
        state: job.state,
        attempts: job.attempts,
        token: claim?.token ?? null,
        expiresAt: claim?.expiresAt ?? null,
      })),
    transcriptIds: async () => [...repository.transcripts.keys()],
    clear: async () => {
      repository.entries.clear();
      repository.transcripts.clear();
    },
    close: async () => undefined,
  };
});
