import { FakeClock } from '../../../../test/fakes/fake-clock';
import { FakeLogFactory } from '../../../../test/fakes/fake-log';
import { AppError } from '../../../common/errors/app-error';
import type { QueueDepth } from '../../pipeline';
import { READING_BOUND_MS } from '../bounded-reading';
import { OutageLog } from '../outage-log';
import { Metrics } from './metrics';
import { ScrapedGauges } from './scraped-gauges';

describe('ScrapedGauges', () => {
  const clock = new FakeClock(1_000_000);
  const logs = new FakeLogFactory();
  let metrics: Metrics;
  let depths: () => Promise<readonly QueueDepth[]>;
  let freeBytes: () => Promise<number | null>;
  let gauges: ScrapedGauges;

  beforeEach(() => {
    logs.records.length = 0;
    metrics = new Metrics();
    depths = async () => [];
    freeBytes = async () => 5000;
    gauges = new ScrapedGauges(
      { depths: () => depths() },
      { freeBytes: () => freeBytes() },
      clock,
      metrics,
      new OutageLog(logs.for('metrics')),
    );
  });

  const scrape = async (): Promise<string> => {
    await gauges.refresh();
    return metrics.registry.metrics();
  };

  it('shows every state, those without jobs at 0', async () => {
    depths = async () => [{ state: 'converted', count: 3, oldestCreatedAt: clock.now() - 90_000 }];
    const text = await scrape();
    expect(text).toContain('transcriber_jobs{state="converted"} 3');
    expect(text).toContain('transcriber_oldest_job_age_seconds{state="converted"} 90');
    for (const state of ['created', 'transcribe', 'done', 'failed', 'dead', 'cancelled']) {
      expect(text).toContain(`transcriber_jobs{state="${state}"} 0`);
      expect(text).toContain(`transcriber_oldest_job_age_seconds{state="${state}"} 0`);
    }
    expect(text).toContain('transcriber_storage_free_bytes 5000');
  });

  it('goes back to 0 when a state has emptied, and never below', async () => {
    depths = async () => [{ state: 'created', count: 1, oldestCreatedAt: clock.now() + 60_000 }];
    expect(await scrape()).toContain('transcriber_oldest_job_age_seconds{state="created"} 0');
    depths = async () => [];
    expect(await scrape()).toContain('transcriber_jobs{state="created"} 0');
  });

  it('leaves out what it could not read, says so once, and shows it again later', async () => {
    depths = async () => [{ state: 'dead', count: 2, oldestCreatedAt: 0 }];
    expect(await scrape()).toContain('transcriber_jobs{state="dead"} 2');

    depths = () => Promise.reject(new AppError('storage_unavailable'));
    freeBytes = () => Promise.reject(new AppError('storage_unavailable'));
    for (let time = 1; time <= 2; time += 1) {
      const text = await scrape();
      expect(text).not.toMatch(/^transcriber_(jobs|oldest_job_age_seconds)\{/m);
      expect(text).not.toMatch(/^transcriber_storage_free_bytes /m);
      expect(text).toContain('transcriber_worker_runs_total{worker="convert",result="success"} 0');
    }
    expect(logs.visible.map(({ level, fields }) => [level, fields['part']])).toEqual([
      ['warn', 'queue gauges'],
      ['warn', 'storage gauge'],
    ]);

    depths = async () => [];
    freeBytes = async () => 1;
    expect(await scrape()).toContain('transcriber_jobs{state="dead"} 0');
    expect(logs.visible).toHaveLength(4);
  });

  it('does not wait for a database that hangs', async () => {
    depths = () => new Promise(() => undefined);
    const text = scrape();
    await clock.advance(READING_BOUND_MS);
    expect(await text).not.toMatch(/^transcriber_jobs\{/m);
    expect(await text).toContain('transcriber_storage_free_bytes 5000');
  });

  it('has no free space to show when the store cannot say', async () => {
    expect(await metrics.registry.metrics()).not.toMatch(/^transcriber_storage_free_bytes /m);
    freeBytes = async () => null;
    expect(await scrape()).not.toMatch(/^transcriber_storage_free_bytes /m);
    expect(logs.visible).toEqual([]);
  });
});
