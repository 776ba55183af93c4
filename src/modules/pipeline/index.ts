export { PipelineFacade, type JobPage } from './application/pipeline.facade';
export {
  blobKeys,
  SOURCES,
  type Job,
  type NewJob,
  type ReplyState,
  type Source,
} from './domain/job';
export { isTerminal, JOB_STATES, type JobState } from './domain/job-state';
export { asSrt, asVtt } from './domain/subtitles';
export {
  WARNING_CODES,
  type Transcript,
  type TranscriptSegment,
  type TranscriptWarning,
  type TranscriptWord,
} from './domain/transcript';
export { MediaConverter } from './media/media-converter.port';
export { JobRepository, type JobFilter, type QueueDepth } from './persistence/job.repository.port';
export { PipelineEvents, WORKERS, type WorkerName } from './pipeline.events';
export { PipelineModule } from './pipeline.module';
