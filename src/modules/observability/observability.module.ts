import { Module } from '@nestjs/common';
import { HealthCheckService, HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { Clock } from '../../common/clock/clock';
import { ClockModule } from '../../common/clock/clock.module';
import { AppConfig } from '../../common/config/app-config';
import { ConfigModule } from '../../common/config/config.module';
import { Draining } from '../../common/lifecycle/draining';
import { LifecycleModule } from '../../common/lifecycle/lifecycle.module';
import { LogFactory } from '../../common/logging/log';
import { LoggingModule } from '../../common/logging/logging.module';
import { BlobStore } from '../../common/storage/blob-store.port';
import { StorageModule } from '../../common/storage/storage.module';
import { JobRepository, MediaConverter, PipelineModule } from '../pipeline';
import { Recognizer } from '../recognition';
import { HealthController } from './health/health.controller';
import { healthParts } from './health/health-parts';
import { Readiness } from './health/readiness';
import { Metrics } from './metrics/metrics';
import { MetricsController } from './metrics/metrics.controller';
import { MetricsModule } from './metrics/metrics.module';
import { OutageLog } from './outage-log';

/** Health and metrics; part of every process, whatever its roles. Listens and asks; nobody calls it. */
@Module({
  imports: [
    ClockModule,
    ConfigModule,
    LifecycleModule,
    LoggingModule,
    StorageModule,
    PipelineModule,
    // Terminus would record each failed probe; changes are recorded by us.
    TerminusModule.forRoot({ logger: false }),
    PrometheusModule.registerAsync({
      imports: [MetricsModule],
      inject: [Metrics],
      useFactory: ({ registry }: Metrics) => ({
        defaultMetrics: { enabled: true, config: { register: registry } },
      }),
      controller: MetricsController,
    }),
  ],
  controllers: [HealthController],
  providers: [
    {
      provide: Readiness,
      useFactory: (
        terminus: HealthCheckService,
        indicators: HealthIndicatorService,
        repository: JobRepository,
        blobs: BlobStore,
        converter: MediaConverter,
        recognizer: Recognizer,
        clock: Clock,
        config: AppConfig,
        draining: Draining,
        logs: LogFactory,
      ) =>
        new Readiness(
          terminus,
          indicators,
          healthParts({ repository, blobs, converter, recognizer, clock, config }),
          draining,
          new OutageLog(logs.for('health')),
        ),
      inject: [
        HealthCheckService,
        HealthIndicatorService,
        JobRepository,
        BlobStore,
        MediaConverter,
        Recognizer,
        Clock,
        AppConfig,
        Draining,
        LogFactory,
      ],
    },
  ],
})
export class ObservabilityModule {}
