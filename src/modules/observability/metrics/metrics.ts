import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { SOURCES, WORKERS } from '../../pipeline';
import { ENGINES } from '../../recognition';
import { INTAKE_REFUSALS, UNDELIVERED_REASONS } from './label-values';

/** From a tone of a second to a recording of many hours, seconds. */
const STEP_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400];
const HTTP_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300];
const REALTIME_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 5];

/**
 * Metrics that Node's collector offers under names that `promtool check metrics` refuses: gauges
 * whose names end in `_total`, which is for counters. The same numbers stand, by type, under
 * `nodejs_active_handles`, `nodejs_active_requests` and `nodejs_active_resources`.
 */
const REFUSED_DEFAULTS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * Every metric of the product: name, help, labels. Names are contract. A label holds only values of
 * a closed set: never an id, a file name, a path or a text.
 *
 * The registry is the application's own; prom-client's global one would be shared by two
 * applications in one process.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly workerRuns = this.counter(
    'transcriber_worker_runs_total',
    'Runs of a worker, by result; a run that found no work is not counted',
    ['worker', 'result'],
  );
  readonly stepDuration = this.histogram(
    'transcriber_step_duration_seconds',
    'Time from a claim to the saved outcome of its step',
    ['worker'],
    STEP_BUCKETS,
  );
  readonly claimsLost = this.counter(
    'transcriber_claims_lost_total',
    'Steps whose claim belonged to somebody else by the time they ended',
    ['worker'],
  );
  readonly jobs = this.gauge('transcriber_jobs', 'Jobs in the queue, by state', ['state']);
  readonly oldestJobAge = this.gauge(
    'transcriber_oldest_job_age_seconds',
    'Time since the oldest job in the state was created, 0 when there is none',
    ['state'],
  );
  readonly audioSeconds = this.counter(
    'transcriber_audio_seconds_total',
    'Audio that was recognised',
    ['engine'],
  );
  readonly realtimeFactor = this.histogram(
    'transcriber_realtime_factor',
    'Time of recognition divided by the length of its audio; below 1 is faster than listening',
    ['engine'],
    REALTIME_BUCKETS,
  );
  readonly storageFree = this.gauge(
    'transcriber_storage_free_bytes',
    'Free space for further recordings; absent when the storage cannot say',
    [],
  );
  readonly sweptFiles = this.counter(
    'transcriber_swept_files_total',
    'Files removed because they belonged to nobody',
    ['reason'],
  );
  readonly intakeUp = this.gauge(
    'transcriber_intake_up',
    'Whether a way in for recordings is open; absent when it is off by choice',
    ['intake'],
  );
  readonly intakeRefused = this.counter(
    'transcriber_intake_refused_total',
    'What was turned away at the door, by error code or stranger',
    ['intake', 'reason'],
  );
  // The suffix is a given name's; a counter all the same.
  readonly undeliveredReplies = this.counter(
    'transcriber_undelivered_reply_count',
    'Replies that could not be delivered to their sender',
    ['reason'],
  );
  readonly httpDuration = this.histogram(
    'http_request_duration_seconds',
    'Time from the request to the end of its answer, by template of the route',
    ['method', 'route', 'status_code'],
    HTTP_BUCKETS,
  );

  /** Everything that can be counted stands at 0 from the start: a rate needs a first value. */
  constructor() {
    for (const worker of WORKERS) {
      this.workerRuns.inc({ worker, result: 'success' }, 0);
      this.workerRuns.inc({ worker, result: 'failure' }, 0);
      this.claimsLost.inc({ worker }, 0);
      this.stepDuration.zero({ worker });
    }
    for (const engine of ENGINES) {
      this.audioSeconds.inc({ engine }, 0);
      this.realtimeFactor.zero({ engine });
    }
    for (const intake of SOURCES) {
      for (const reason of INTAKE_REFUSALS) {
        this.intakeRefused.inc({ intake, reason }, 0);
      }
    }
    for (const reason of UNDELIVERED_REASONS) {
      this.undeliveredReplies.inc({ reason }, 0);
    }
    this.sweptFiles.inc({ reason: 'staging' }, 0);
    this.sweptFiles.inc({ reason: 'orphan' }, 0);
    this.storageFree.remove(); // prom-client starts it at 0, which would be an answer
  }

  /** Call it when Node's own metrics are in the registry. */
  dropRefusedDefaults(): void {
    for (const name of REFUSED_DEFAULTS) {
      this.registry.removeSingleMetric(name);
    }
  }

  private counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    buckets: number[],
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
