import { AppError } from '../../../common/errors/app-error';
import { PipelineEvents } from '../../pipeline';
import { Metrics } from './metrics';
import { countPipeline } from './pipeline-metrics';

describe('countPipeline', () => {
  let events: PipelineEvents;
  let metrics: Metrics;

  beforeEach(() => {
    events = new PipelineEvents();
    metrics = new Metrics();
    countPipeline(events, metrics);
  });

  const lines = async (name: string): Promise<string[]> =>
    (await metrics.registry.getSingleMetricAsString(name))
      .split('\n')
      .filter((line) => !line.startsWith('#'));

  it('counts and measures steps by worker and result', async () => {
    events.tell('step', { worker: 'convert', result: 'success', seconds: 2 });
    events.tell('step', { worker: 'convert', result: 'success', seconds: 3 });
    events.tell('step', { worker: 'collect', result: 'failure', seconds: 40 });
    const runs = await lines('transcriber_worker_runs_total');
    expect(runs).toContain('transcriber_worker_runs_total{worker="convert",result="success"} 2');
    expect(runs).toContain('transcriber_worker_runs_total{worker="convert",result="failure"} 0');
    expect(runs).toContain('transcriber_worker_runs_total{worker="collect",result="failure"} 1');
    const durations = await lines('transcriber_step_duration_seconds');
    expect(durations).toContain('transcriber_step_duration_seconds_sum{worker="convert"} 5');
    expect(durations).toContain('transcriber_step_duration_seconds_count{worker="convert"} 2');
    expect(durations).toContain(
      'transcriber_step_duration_seconds_bucket{le="60",worker="collect"} 1',
    );
    expect(durations).toContain(
      'transcriber_step_duration_seconds_bucket{le="30",worker="collect"} 0',
    );
  });

  it('counts a run that could not look for work as a failure without a duration', async () => {
    events.tell('pollFailed', {
      worker: 'dispatch',
      error: new AppError('storage_unavailable'),
    });
    expect(await lines('transcriber_worker_runs_total')).toContain(
      'transcriber_worker_runs_total{worker="dispatch",result="failure"} 1',
    );
    expect(await lines('transcriber_step_duration_seconds')).toContain(
      'transcriber_step_duration_seconds_count{worker="dispatch"} 0',
    );
  });

  it('counts lost claims without naming the job', async () => {
    events.tell('claimLost', { worker: 'collect', jobId: 'a-job' });
    const lost = await lines('transcriber_claims_lost_total');
    expect(lost).toContain('transcriber_claims_lost_total{worker="collect"} 1');
    expect(lost.join()).not.toContain('a-job');
  });

  it('relates the time of recognition to the length of the audio', async () => {
    events.tell('recognized', { engine: 'pocketsphinx', audioSeconds: 100, workSeconds: 25 });
    expect(await lines('transcriber_audio_seconds_total')).toContain(
      'transcriber_audio_seconds_total{engine="pocketsphinx"} 100',
    );
    expect(await lines('transcriber_realtime_factor')).toContain(
      'transcriber_realtime_factor_sum{engine="pocketsphinx"} 0.25',
    );
  });

  it('has no factor for a recording without length', async () => {
    events.tell('recognized', { engine: 'pocketsphinx', audioSeconds: 0, workSeconds: 1 });
    expect(await lines('transcriber_realtime_factor')).toContain(
      'transcriber_realtime_factor_count{engine="pocketsphinx"} 0',
    );
  });

  it('counts swept files by reason', async () => {
    events.tell('swept', { reason: 'orphan', count: 3 });
    const swept = await lines('transcriber_swept_files_total');
    expect(swept).toContain('transcriber_swept_files_total{reason="orphan"} 3');
    expect(swept).toContain('transcriber_swept_files_total{reason="staging"} 0');
  });
});
