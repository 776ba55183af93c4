import type { Clock } from '../../../common/clock/clock';
import { failureFields, type Log, type LogFactory } from '../../../common/logging/log';
import type { BlobStore } from '../../../common/storage/blob-store.port';
import { blobKeys } from '../domain/job';
import type { JobRepository } from '../persistence/job.repository.port';
import type { PipelineEvents } from '../pipeline.events';

const BATCH = 200;
/** An upload commits its bytes before its row; while others may be doing that, younger files are left alone. */
const YOUNGEST_ORPHAN_MS = 24 * 3_600_000;
const ROOT = 'recordings/';

/** Removes files that no row speaks of: what a crash left between bytes and row. */
export class SweepOrphansService {
  private readonly log: Log;

  constructor(
    private readonly blobs: BlobStore,
    private readonly repository: JobRepository,
    private readonly clock: Clock,
    private readonly events: PipelineEvents,
    logs: LogFactory,
  ) {
    this.log = logs.for('pipeline');
  }

  /** A store that does not answer must not keep the service from starting: leftovers can wait. */
  async sweepAtStart(alone: boolean): Promise<void> {
    try {
      await this.sweep(alone);
    } catch (error) {
      this.log.warn('leftover files not removed', failureFields(error));
    }
  }

  /** @param alone nobody else can be writing: then everything unreferenced goes, whatever its age */
  async sweep(alone: boolean): Promise<void> {
    const staging = await this.blobs.sweepStaging(alone);
    const orphans = await this.sweepBlobs(alone);
    this.events.tell('swept', { reason: 'staging', count: staging });
    this.events.tell('swept', { reason: 'orphan', count: orphans });
    if (staging + orphans > 0) {
      this.log.info('leftover files removed', { staging, orphans });
    }
  }

  private async sweepBlobs(alone: boolean): Promise<number> {
    let removed = 0;
    let batch: string[] = [];
    for await (const { key, changedAt } of this.blobs.list(ROOT)) {
      if (alone || this.clock.now() - changedAt > YOUNGEST_ORPHAN_MS) {
        batch.push(key);
      }
      if (batch.length === BATCH) {
        removed += await this.removeUnreferenced(batch);
        batch = [];
      }
    }
    return removed + (await this.removeUnreferenced(batch));
  }

  private async removeUnreferenced(keys: readonly string[]): Promise<number> {
    const idOf = (key: string): string => key.slice(ROOT.length).split('/')[0] ?? '';
    const rows = await this.repository.existing([...new Set(keys.map(idOf))]);
    let removed = 0;
    for (const key of keys) {
      const id = idOf(key);
      const speechKey = rows.get(id);
      const needed =
        speechKey !== undefined && (key === blobKeys.original(id) || key === speechKey);
      if (!needed) {
        await this.blobs.delete(key);
        removed += 1;
      }
    }
    return removed;
  }
}
