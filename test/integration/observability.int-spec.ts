import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Clock } from '../../src/common/clock/clock';
import { AppConfig, loadConfig } from '../../src/common/config/app-config';
import { AppError } from '../../src/common/errors/app-error';
import { NoopError, type PollId } from '../../src/common/errors/noop';
import { HttpEvents } from '../../src/common/http/http-events';
import { ProblemDetailsFilter } from '../../src/common/http/problem-details.filter';
import { installRequestLog } from '../../src/common/http/request-log';
import { Draining } from '../../src/common/lifecycle/draining';
import { LogFactory } from '../../src/common/logging/log';
import { NestLogBridge } from '../../src/common/logging/nest-log-bridge';
import { BlobStore } from '../../src/common/storage/blob-store.port';
import { IntakeEvents } from '../../src/modules/intake';
import { ObservabilityModule } from '../../src/modules/observability';
import {
  JobRepository,
  MediaConverter,
  PipelineEvents,
  type QueueDepth,
} from '../../src/modules/pipeline';
import { Recognizer } from '../../src/modules/recognition';
import { openApiDocument } from '../../src/openapi';
import { FakeClock } from '../fakes/fake-clock';
import { FakeLogFactory } from '../fakes/fake-log';

const NOWHERE = '/a/path/of/this/machine';
const RULES = resolve('deploy/prometheus/steward.rules.yml');

/** What the observed parts answer; a test replaces what it wants to see go wrong. */
class World {
  readonly clock = new FakeClock();
  readonly logs = new FakeLogFactory();
  depths = async (): Promise<readonly QueueDepth[]> => [
    { state: 'created', count: 2, oldestCreatedAt: this.clock.now() - 5000 },
  ];
  list = async (): Promise<readonly never[]> => [];
  freeBytes = async (): Promise<number | null> => 5_000_000_000;
  storage = async (): Promise<void> => undefined;
  converter = async (): Promise<void> => undefined;
  engine = async (): Promise<void> => undefined;
}

describe('observability', () => {
  let folder: string;
  let world: World;
  let apps: NestFastifyApplication[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'observability-'));
    world = new World();
    apps = [];
  });

  afterEach(async () => {
    await Promise.all(apps.map((app) => app.close()));
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (roles = 'api,pipeline'): Promise<NestFastifyApplication> => {
    const { clock, logs } = world;
    const module = await Test.createTestingModule({ imports: [ObservabilityModule] })
      .overrideProvider(AppConfig)
      .useValue(loadConfig({ DATA_DIR: folder, ROLES: roles }, false))
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(LogFactory)
      .useValue(logs)
      .overrideProvider(JobRepository)
      .useValue({
        depths: () => world.depths(),
        check: () => world.list(),
        existing: async () => new Map(),
        poll: (_state: string, poll: PollId) => Promise.reject(new NoopError(poll)),
      })
      .overrideProvider(BlobStore)
      .useValue({
        check: () => world.storage(),
        freeBytes: () => world.freeBytes(),
        sweepStaging: async () => 3,
        list: async function* () {},
      })
      .overrideProvider(MediaConverter)
      .useValue({ check: () => world.converter() })
      .overrideProvider(Recognizer)
      .useValue({ check: () => world.engine() })
      .compile();
    const adapter = new FastifyAdapter();
    const app = module.createNestApplication<NestFastifyApplication>(adapter, {
      logger: new NestLogBridge(logs.for('nest')),
    });
    app.useGlobalFilters(new ProblemDetailsFilter());
    installRequestLog(adapter.getInstance(), logs.for('http'), app.get(HttpEvents));
    await app.init();
    await adapter.getInstance().ready();
    apps.push(app);
    return app;
  };

  const scrape = async (app: NestFastifyApplication): Promise<string> => {
    const answer = await app.inject({ url: '/metrics' });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    return answer.body;
  };

  const ready = async (app: NestFastifyApplication) => {
    const answer = await app.inject({ url: '/health/ready' });
    return { status: answer.statusCode, body: answer.json(), text: answer.body };
  };

  describe('GET /metrics', () => {
    it('Scenario: every metric is offered under its name, type and labels', async () => {
      const app = await start();
      app.get(IntakeEvents).tell('up', { intake: 'http', up: true });
      await app.inject({ url: '/health/live' });
      expect(ourMetrics(await scrape(app))).toEqual({
        http_request_duration_seconds: 'histogram method,route,status_code',
        transcriber_audio_seconds_total: 'counter engine',
        transcriber_claims_lost_total: 'counter worker',
        transcriber_intake_refused_total: 'counter intake,reason',
        transcriber_intake_up: 'gauge intake',
        transcriber_jobs: 'gauge state',
        transcriber_oldest_job_age_seconds: 'gauge state',
        transcriber_realtime_factor: 'histogram engine',
        transcriber_step_duration_seconds: 'histogram worker',
        transcriber_storage_free_bytes: 'gauge ',
        transcriber_swept_files_total: 'counter reason',
        transcriber_undelivered_reply_count: 'counter reason',
        transcriber_worker_runs_total: 'counter result,worker',
      });
    });

    it('shows the queue, the free space and what start-up itself has done', async () => {
      const text = await scrape(await start());
      expect(text).toContain('transcriber_jobs{state="created"} 2');
      expect(text).toContain('transcriber_oldest_job_age_seconds{state="created"} 5');
      expect(text).toContain('transcriber_jobs{state="dead"} 0');
      expect(text).toContain('transcriber_storage_free_bytes 5000000000');
      expect(text).toContain('transcriber_swept_files_total{reason="staging"} 3');
      expect(text).toContain('transcriber_undelivered_reply_count{reason="recipient_unnamed"} 0');
      expect(text).toMatch(/^process_resident_memory_bytes /m);
    });

    it('Scenario: a scrape does not depend on the database: without the queue it claims nothing about it', async () => {
      const app = await start();
      await scrape(app);
      world.depths = () => Promise.reject(new AppError('storage_unavailable'));
      const text = await scrape(app);
      expect(text).not.toMatch(/^transcriber_(jobs|oldest_job_age_seconds)\{/m);
      expect(text).toContain('transcriber_storage_free_bytes 5000000000');
    });

    it('Scenario: a route is named by its template, never by its address', async () => {
      const app = await start();
      await app.inject({ url: '/no/such/secret-address' });
      await app.inject({ url: '/health/live?token=secret-token' });
      const text = await scrape(app);
      expect(text).toContain(
        'http_request_duration_seconds_count{method="GET",route="unmatched",status_code="404"} 1',
      );
      expect(text).toContain(
        'http_request_duration_seconds_count{method="GET",route="/health/live",status_code="200"} 1',
      );
      expect(text).not.toContain('secret');
    });

    it('keeps two applications in one process apart, and outlives the other', async () => {
      const first = await start('api');
      const second = await start('api');
      const lost = 'transcriber_claims_lost_total{worker="collect"}';
      first.get(PipelineEvents).tell('claimLost', { worker: 'collect', jobId: 'x' });
      expect(await scrape(first)).toContain(`${lost} 1`);
      expect(await scrape(second)).toContain(`${lost} 0`);
      apps.splice(apps.indexOf(first), 1);
      await first.close();
      expect(await scrape(second)).toMatch(/^nodejs_heap_size_used_bytes /m);
    });
  });

  describe('GET /health/live', () => {
    it('Scenario: alive is ok whatever else is not', async () => {
      world.list = () => Promise.reject(new AppError('storage_unavailable'));
      const app = await start();
      app.get(Draining).begin();
      const answer = await app.inject({ url: '/health/live' });
      expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }]);
    });
  });

  describe('GET /health/ready', () => {
    it('Scenario: ready when every part is up', async () => {
      const { status, body } = await ready(await start());
      expect(status).toBe(200);
      expect(body.status).toBe('ok');
      expect(Object.keys(body.details).sort()).toEqual([
        'converter',
        'database',
        'draining',
        'engine',
        'storage',
      ]);
    });

    it('Scenario: a process without the pipeline needs neither converter nor engine', async () => {
      world.engine = () => Promise.reject(new AppError('engine_unavailable'));
      const { status, body } = await ready(await start('api'));
      expect(status).toBe(200);
      expect(Object.keys(body.details).sort()).toEqual(['database', 'draining', 'storage']);
    });

    const failures: [part: string, code: string, breakIt: (world: World) => void][] = [
      [
        'database',
        'storage_unavailable',
        (it) => (it.list = () => Promise.reject(new Error(NOWHERE))),
      ],
      ['storage', 'storage_full', (it) => (it.freeBytes = async () => 1)],
      [
        'storage',
        'storage_unavailable',
        (it) => (it.storage = () => Promise.reject(new Error(NOWHERE))),
      ],
      [
        'converter',
        'converter_unavailable',
        (it) => (it.converter = () => Promise.reject(new Error(NOWHERE))),
      ],
      [
        'engine',
        'model_missing',
        (it) =>
          (it.engine = () =>
            Promise.reject(new AppError('model_missing', { cause: new Error(NOWHERE) }))),
      ],
    ];

    it.each(failures)(
      'Scenario: a part that is down is named with a code and no path: %s, %s',
      async (part, code, breakIt) => {
        breakIt(world);
        const { status, body, text } = await ready(await start());
        expect(status).toBe(503);
        expect(body.status).toBe('error');
        expect(body.error).toEqual({ [part]: { status: 'down', code } });
        expect(Object.keys(body.info)).toHaveLength(4);
        expect(text).not.toContain(NOWHERE);
      },
    );

    it('Scenario: a part that hangs does not hang the answer: that check is started only once', async () => {
      let checks = 0;
      let begun: () => void = () => undefined;
      const checking = new Promise<void>((resolve) => (begun = resolve));
      world.engine = () => {
        checks += 1;
        begun();
        return new Promise(() => undefined);
      };
      const app = await start();
      const answers = Promise.all([ready(app), ready(app)]);
      await checking;
      await world.clock.advance(3000);
      for (const { status, body } of await answers) {
        expect(status).toBe(503);
        expect(body.error).toEqual({ engine: { status: 'down', code: 'engine_unavailable' } });
      }
      expect(checks).toBe(1);
    });

    it('Scenario: readiness fails as soon as the process begins to stop: nothing is asked any more', async () => {
      const app = await start();
      world.list = () => Promise.reject(new AppError('storage_unavailable'));
      app.get(Draining).begin();
      const { status, body } = await ready(app);
      expect(status).toBe(503);
      expect(body.details).toEqual({ draining: { status: 'down', code: 'shutting_down' } });
    });

    it('Scenario: an outage is recorded once at its start and once at its end', async () => {
      const app = await start();
      world.list = () => Promise.reject(new AppError('storage_unavailable'));
      await ready(app);
      await ready(app);
      await ready(app);
      world.list = async () => [];
      await ready(app);
      await ready(app);
      expect(world.logs.visible.filter(({ context }) => context !== 'pipeline').map(brief)).toEqual(
        ['warn health part is down database', 'info health part is up again database'],
      );
    });
  });

  it('is described in the OpenAPI document, with examples and without a key', async () => {
    const { paths } = openApiDocument(await start(), '1.0.0');
    const ofReady = paths['/health/ready']?.get?.responses;
    expect(JSON.stringify(ofReady?.['200'])).toContain('"example":{"status":"ok"');
    expect(JSON.stringify(ofReady?.['503'])).toContain('storage_full');
    expect(JSON.stringify(paths['/metrics']?.get?.responses['200'])).toContain('transcriber_jobs');
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect(paths[path]?.get?.security).toBeUndefined();
    }
  });

  describe('what Prometheus says', () => {
    const promtool = process.env['STEWARD_PROMTOOL'];
    if (promtool === undefined) {
      process.stderr.write('SKIPPED: promtool checks, STEWARD_PROMTOOL names no promtool\n');
    }
    const withPromtool = promtool === undefined ? it.skip : it;

    const run = (args: readonly string[], input = ''): { status: number | null; text: string } => {
      const { status, stdout, stderr } = spawnSync(promtool ?? '', args, {
        input,
        encoding: 'utf8',
        timeout: 30_000,
      });
      return { status, text: stdout + stderr };
    };

    withPromtool('finds nothing wrong with the metrics but the one given name', async () => {
      const app = await start();
      app.get(IntakeEvents).tell('up', { intake: 'http', up: true });
      app
        .get(PipelineEvents)
        .tell('recognized', { engine: 'pocketsphinx', audioSeconds: 10, workSeconds: 2 });
      await app.inject({ url: '/health/live' });
      const { text } = run(['check', 'metrics'], await scrape(app));
      const blamed = text
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]);
      expect([...new Set(blamed)]).toEqual(['transcriber_undelivered_reply_count']);
    });

    withPromtool('accepts the alert rules, and they fire when they should', () => {
      const checked = run(['check', 'rules', RULES]);
      expect(checked).toMatchObject({ status: 0 });
      const tested = run(['test', 'rules', RULES.replace(/\.yml$/, '.test.yml')]);
      expect(tested).toMatchObject({ status: 0 });
    });

    it('Scenario: alerts speak of metrics that exist and name their place in the runbook', async () => {
      const rules = await readFile(RULES, 'utf8');
      const offered = Object.keys(ourMetrics(await scrape(await start())));
      const used = rules.match(/\b(transcriber|http)_[a-z_]+\b/g) ?? [];
      const base = (name: string): string =>
        offered.includes(name) ? name : name.replace(/_(count|sum|bucket)$/, '');
      expect(used.length).toBeGreaterThan(0);
      expect([...new Set(used.map(base))].filter((name) => !offered.includes(name))).toEqual([]);
      const alerts = rules.match(/- alert: \w+/g) ?? [];
      const runbooks = rules.match(/runbook_url: docs\/operations\.md#[a-z-]+$/gm) ?? [];
      expect(runbooks).toHaveLength(alerts.length);
    });
  });
});

/** Type and label names of each metric that is not Node's own, by name. */
function ourMetrics(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    if (name === undefined || type === undefined || /^(process|nodejs)_/.test(name)) {
      continue;
    }
    const labels = new Set<string>();
    const sample = type === 'histogram' ? `${name}_(?:bucket|sum|count)` : name;
    for (const [, set] of text.matchAll(new RegExp(`^${sample}(?:\\{(.*)\\})? `, 'gm'))) {
      for (const [, label] of (set ?? '').matchAll(/(\w+)="/g)) {
        labels.add(label ?? '');
      }
    }
    labels.delete('le');
    found[name] = `${type} ${[...labels].sort().join(',')}`;
  }
  return found;
}

const brief = (record: FakeLogFactory['records'][number]): string =>
  `${record.level} ${record.context} ${record.message} ${String(record.fields['part'])}`;
