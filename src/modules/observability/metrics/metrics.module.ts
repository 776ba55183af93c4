import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../common/clock/clock';
import { ClockModule } from '../../../common/clock/clock.module';
import { HttpEvents } from '../../../common/http/http-events';
import { HttpModule } from '../../../common/http/http.module';
import { LogFactory } from '../../../common/logging/log';
import { LoggingModule } from '../../../common/logging/logging.module';
import { BlobStore } from '../../../common/storage/blob-store.port';
import { StorageModule } from '../../../common/storage/storage.module';
import { IntakeEvents, IntakeModule } from '../../intake';
import { JobRepository, PipelineEvents, PipelineModule } from '../../pipeline';
import { OutageLog } from '../outage-log';
import { countIntake, measureHttp } from './door-metrics';
import { Metrics } from './metrics';
import { countPipeline } from './pipeline-metrics';
import { ScrapedGauges } from './scraped-gauges';

@Module({
  imports: [ClockModule, HttpModule, LoggingModule, StorageModule, IntakeModule, PipelineModule],
  providers: [
    { provide: Metrics, useFactory: () => new Metrics() },
    {
      provide: ScrapedGauges,
      useFactory: (
        repository: JobRepository,
        blobs: BlobStore,
        clock: Clock,
        metrics: Metrics,
        logs: LogFactory,
      ) => new ScrapedGauges(repository, blobs, clock, metrics, new OutageLog(logs.for('metrics'))),
      inject: [JobRepository, BlobStore, Clock, Metrics, LogFactory],
    },
  ],
  exports: [Metrics, ScrapedGauges],
})
export class MetricsModule implements OnModuleInit {
  /** Listens before anything starts: start-up itself already tells things. */
  constructor(
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(PipelineEvents) pipeline: PipelineEvents,
    @Inject(IntakeEvents) intake: IntakeEvents,
    @Inject(HttpEvents) http: HttpEvents,
  ) {
    countPipeline(pipeline, metrics);
    countIntake(intake, metrics);
    measureHttp(http, metrics);
  }

  onModuleInit(): void {
    this.metrics.dropRefusedDefaults();
  }
}
