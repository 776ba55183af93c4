import type { Clock } from '../../../common/clock/clock';
import { asAppError } from '../../../common/errors/app-error';
import type { BlobStore } from '../../../common/storage/blob-store.port';
import { JOB_STATES, type JobRepository, type QueueDepth } from '../../pipeline';
import { BoundedReading } from '../bounded-reading';
import type { OutageLog } from '../outage-log';
import type { Metrics } from './metrics';

/**
 * Gauges that are read when somebody scrapes. What cannot be read is left out of the scrape: an old
 * or a made-up value would say that all is well.
 */
export class ScrapedGauges {
  private readonly depths: BoundedReading<readonly QueueDepth[]>;
  private readonly freeBytes: BoundedReading<number | null>;

  constructor(
    repository: Pick<JobRepository, 'depths'>,
    blobs: Pick<BlobStore, 'freeBytes'>,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly outages: OutageLog,
  ) {
    const failure = 'storage_unavailable';
    this.depths = new BoundedReading({ clock, failure, read: () => repository.depths() });
    this.freeBytes = new BoundedReading({ clock, failure, read: () => blobs.freeBytes() });
  }

  /** Never throws. */
  async refresh(): Promise<void> {
    await Promise.all([this.refreshQueue(), this.refreshStorage()]);
  }

  private async refreshQueue(): Promise<void> {
    const { jobs, oldestJobAge } = this.metrics;
    try {
      const depths = await this.depths.get();
      for (const state of JOB_STATES) {
        const depth = depths.find((candidate) => candidate.state === state);
        const ageMs = depth === undefined ? 0 : this.clock.now() - depth.oldestCreatedAt;
        jobs.set({ state }, depth?.count ?? 0);
        oldestJobAge.set({ state }, Math.max(0, ageMs) / 1000); // the wall clock may be set back
      }
      this.outages.report('queue gauges', null);
    } catch (error) {
      jobs.reset();
      oldestJobAge.reset();
      this.outages.report('queue gauges', asAppError(error));
    }
  }

  private async refreshStorage(): Promise<void> {
    const { storageFree } = this.metrics;
    try {
      const free = await this.freeBytes.get();
      if (free === null) {
        storageFree.remove();
      } else {
        storageFree.set(free);
      }
      this.outages.report('storage gauge', null);
    } catch (error) {
      storageFree.remove();
      this.outages.report('storage gauge', asAppError(error));
    }
  }
}
