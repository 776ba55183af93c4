import type { BlobStore } from '../../src/common/storage/blob-store.port';
import type { LeftoverJournal } from '../../src/common/storage/leftover-journal.port';
import { PipelineEvents, PipelineFacade, type JobRepository } from '../../src/modules/pipeline';
import { RunningSteps } from '../../src/modules/pipeline/application/running-steps';
import { FakeLogFactory } from './fake-log';

/** The pipeline's face over fakes, for tests of those who use it. */
export const facadeOver = (
  repository: JobRepository,
  blobs: BlobStore,
  journal: LeftoverJournal,
): PipelineFacade =>
  new PipelineFacade(
    repository,
    blobs,
    new RunningSteps(),
    new PipelineEvents(),
    journal,
    new FakeLogFactory(),
  );
