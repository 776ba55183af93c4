import type { NewJob } from '../../src/modules/pipeline/domain/job';

/** Ids of the shape of UUIDv7 that rise with each call. */
export class TestIds {
  private count = 0;

  next(): string {
    this.count += 1;
    return `019b0000-0000-7000-8000-${String(this.count).padStart(12, '0')}`;
  }
}

export function newJob(id: string, change: Partial<NewJob> = {}): NewJob {
  return {
    id,
    source: 'http',
    sender: '',
    idempotencyKey: null,
    filename: 'memo.ogg',
    mediaType: 'audio/ogg',
    sizeBytes: 1234,
    sha256: 'ab'.repeat(32),
    requestedLanguage: null,
    prompt: null,
    ...change,
  };
}
