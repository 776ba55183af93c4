import type { Clock } from '../../../common/clock/clock';
import { failureFields, type Log, type LogFactory } from '../../../common/logging/log';
import type { BlobStore } from '../../../common/storage/blob-store.port';
import type { LeftoverJournal } from '../../../common/storage/leftover-journal.port';
import { blobKeys, bornAt } from '../domain/job';
import type { JobRepository } from '../persistence/job.repository.port';
import type { PipelineEvents } from '../pipeline.events';

const BATCH = 200;
/** Bytes are committed before their row; while others may be doing that, younger ones stay. */
const YOUNGEST_LEFTOVER_MS = 24 * 3_600_000;

export interface SweepScope {
  /** No other process uses this DATA_DIR. */
  readonly aloneOnFolder: boolean;
  /** No other process can be writing to the blob store, on this machine or another. */
  readonly aloneOnStore: boolean;
}

/**
 * Removes what a crash left between bytes and row. An original is only removed when the journal names
 * it: a file that merely has no row may be a recording of a database that was lost, exchanged or
 * restored, and that is the owner's to decide.
 */
export class SweepLeftoversService {
  private readonly log: Log;

  constructor(
    private readonly blobs: BlobStore,
    private readonly journal: LeftoverJournal,
    private readonly repository: JobRepository,
    private readonly clock: Clock,
    private readonly events: PipelineEvents,
    logs: LogFactory,
  ) {
    this.log = logs.for('pipeline');
  }

  /** A store that does not answer must not keep the service from starting: leftovers can wait. */
  async sweepAtStart(scope: SweepScope): Promise<void> {
    try {
      await this.sweep(scope);
    } catch (error) {
      this.log.warn('leftover files not removed', failureFields(error));
    }
  }

  async sweep(scope: SweepScope): Promise<void> {
    const staging = await this.blobs.sweepStaging(scope.aloneOnStore);
    const noted = await this.sweepNoted(scope.aloneOnFolder);
    const { converted, strays } = await this.sweepConverted(scope.aloneOnStore);
    this.events.tell('swept', { reason: 'staging', count: staging });
    this.events.tell('swept', { reason: 'orphan', count: noted + converted });
    if (staging + noted + converted > 0) {
      this.log.info('leftover files removed', { staging, orphans: noted + converted });
    }
    if (strays > 0) {
      this.log.warn('audio without a row is kept: is this the right database?', { files: strays });
    }
  }

  /**
   * Recordings that were being accepted or deleted: their row, or its absence, says which it is. While
   * others may be accepting, young ids are left alone.
   */
  private async sweepNoted(alone: boolean): Promise<number> {
    let removed = 0;
    for await (const id of this.journal.noted()) {
      if (!alone && this.clock.now() - bornAt(id) < YOUNGEST_LEFTOVER_MS) {
        continue;
      }
      if (!(await this.repository.existing([id])).has(id)) {
        const size = await this.blobs.size(blobKeys.original(id));
        await this.blobs.delete(blobKeys.original(id));
        removed += size === null ? 0 : 1;
      }
      await this.journal.clear(id);
    }
    return removed;
  }

  /** Converted audio can be made again, so what no row needs goes. */
  private async sweepConverted(alone: boolean): Promise<{ converted: number; strays: number }> {
    const total = { converted: 0, strays: 0 };
    let batch: string[] = [];
    const finishBatch = async (): Promise<void> => {
      const part = await this.removeUnneeded(batch);
      total.converted += part.converted;
      total.strays += part.strays;
      batch = [];
    };
    for await (const { key, changedAt } of this.blobs.list(blobKeys.root)) {
      if (alone || this.clock.now() - changedAt > YOUNGEST_LEFTOVER_MS) {
        batch.push(key);
      }
      if (batch.length === BATCH) {
        await finishBatch();
      }
    }
    await finishBatch();
    return total;
  }

  private async removeUnneeded(
    keys: readonly string[],
  ): Promise<{ converted: number; strays: number }> {
    const rows = await this.repository.existing([...new Set(keys.map(blobKeys.owner))]);
    const part = { converted: 0, strays: 0 };
    for (const key of keys) {
      const id = blobKeys.owner(key);
      if (key === blobKeys.original(id)) {
        part.strays += rows.has(id) ? 0 : 1;
      } else if (rows.get(id) !== key) {
        await this.blobs.delete(key);
        part.converted += 1;
      }
    }
    return part;
  }
}
