import { AppError } from '../../../common/errors/app-error';
import type { BlobStore } from '../../../common/storage/blob-store.port';
import type { RecognitionRequest } from '../../recognition';
import type { ClaimedJob } from '../domain/job';

/**
 * Runs `work` with the converted audio as a local file, which is given back afterwards.
 * @throws AppError `audio_missing` when the conversion's result is gone
 */
export async function withSpeech<T>(
  blobs: BlobStore,
  job: ClaimedJob,
  signal: AbortSignal,
  work: (request: RecognitionRequest) => Promise<T>,
): Promise<T> {
  if (job.speechKey === null || job.durationSeconds === null) {
    throw new AppError('audio_missing');
  }
  const copy = await blobs.localCopy(job.speechKey, signal);
  try {
    return await work({
      recordingId: job.id,
      audioPath: copy.path,
      durationSeconds: job.durationSeconds,
      language: job.requestedLanguage,
      prompt: job.prompt,
    });
  } finally {
    await copy.release();
  }
}
