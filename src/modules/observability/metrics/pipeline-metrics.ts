import type { PipelineEvents } from '../../pipeline';
import type { Metrics } from './metrics';

/** Counts what the pipeline tells. */
export function countPipeline(events: PipelineEvents, metrics: Metrics): void {
  events.on('step', ({ worker, result, seconds }) => {
    metrics.workerRuns.inc({ worker, result });
    metrics.stepDuration.observe({ worker }, seconds);
  });
  // A failed run as well, but without a step there is no duration to speak of.
  events.on('pollFailed', ({ worker }) => {
    metrics.workerRuns.inc({ worker, result: 'failure' });
  });
  events.on('claimLost', ({ worker }) => {
    metrics.claimsLost.inc({ worker });
  });
  events.on('recognized', ({ engine, audioSeconds, workSeconds }) => {
    metrics.audioSeconds.inc({ engine }, audioSeconds);
    if (audioSeconds > 0) {
      metrics.realtimeFactor.observe({ engine }, workSeconds / audioSeconds);
    }
  });
  events.on('swept', ({ reason, count }) => {
    metrics.sweptFiles.inc({ reason }, count);
  });
}
