import { Inject, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../common/clock/clock';
import { ClockModule } from '../../common/clock/clock.module';
import { AppConfig } from '../../common/config/app-config';
import { ConfigModule } from '../../common/config/config.module';
import { Database } from '../../common/database/database';
import { DatabaseModule } from '../../common/database/database.module';
import { logListenerFailure } from '../../common/events/listener-failure';
import { DataDirPresence } from '../../common/lifecycle/data-dir-presence';
import { Draining } from '../../common/lifecycle/draining';
import { LifecycleModule } from '../../common/lifecycle/lifecycle.module';
import { PollSchedule } from '../../common/lifecycle/poll-schedule.port';
import { LogFactory } from '../../common/logging/log';
import { LoggingModule } from '../../common/logging/logging.module';
import { BlobStore } from '../../common/storage/blob-store.port';
import { LeftoverJournal } from '../../common/storage/leftover-journal.port';
import { StorageModule } from '../../common/storage/storage.module';
import { RecognitionModule, Recognizer, scratchFolder, sweepScratch } from '../recognition';
import { PipelineFacade } from './application/pipeline.facade';
import { RunningSteps } from './application/running-steps';
import { SpeechTidier } from './application/speech-tidier';
import { StepRunner } from './application/step-runner';
import { SweepLeftoversService } from './application/sweep-leftovers.service';
import { FfmpegMediaConverter } from './media/ffmpeg.media-converter';
import { MediaConverter } from './media/media-converter.port';
import { JobRepository } from './persistence/job.repository.port';
import { SqlJobRepository } from './persistence/sql.job.repository';
import { PipelineEvents } from './pipeline.events';
import { CollectStep } from './workers/collect.step';
import { ConvertStep } from './workers/convert.step';
import { DispatchStep } from './workers/dispatch.step';
import { PipelineWorkers } from './workers/pipeline.workers';

@Module({
  imports: [
    ClockModule,
    ConfigModule,
    DatabaseModule,
    LifecycleModule,
    LoggingModule,
    StorageModule,
    RecognitionModule,
  ],
  providers: [
    RunningSteps,
    {
      provide: PipelineEvents,
      useFactory: (logs: LogFactory) => new PipelineEvents(logListenerFailure(logs)),
      inject: [LogFactory],
    },
    {
      provide: JobRepository,
      useFactory: (database: Database, clock: Clock) => new SqlJobRepository(database, clock),
      inject: [Database, Clock],
    },
    {
      provide: MediaConverter,
      useFactory: (config: AppConfig, clock: Clock) =>
        new FfmpegMediaConverter(config.media, clock),
      inject: [AppConfig, Clock],
    },
    {
      provide: PipelineFacade,
      useFactory: (
        repository: JobRepository,
        blobs: BlobStore,
        running: RunningSteps,
        events: PipelineEvents,
        journal: LeftoverJournal,
        logs: LogFactory,
      ) => new PipelineFacade(repository, blobs, running, events, journal, logs),
      inject: [JobRepository, BlobStore, RunningSteps, PipelineEvents, LeftoverJournal, LogFactory],
    },
    {
      provide: SweepLeftoversService,
      useFactory: (
        blobs: BlobStore,
        journal: LeftoverJournal,
        repository: JobRepository,
        clock: Clock,
        events: PipelineEvents,
        logs: LogFactory,
      ) => new SweepLeftoversService(blobs, journal, repository, clock, events, logs),
      inject: [BlobStore, LeftoverJournal, JobRepository, Clock, PipelineEvents, LogFactory],
    },
    {
      provide: SpeechTidier,
      useFactory: (blobs: BlobStore, events: PipelineEvents, logs: LogFactory) =>
        new SpeechTidier(blobs, events, logs),
      inject: [BlobStore, PipelineEvents, LogFactory],
    },
    {
      provide: PipelineWorkers,
      useFactory: (
        repository: JobRepository,
        blobs: BlobStore,
        converter: MediaConverter,
        recognizer: Recognizer,
        running: RunningSteps,
        events: PipelineEvents,
        clock: Clock,
        config: AppConfig,
        schedule: PollSchedule,
        draining: Draining,
        logs: LogFactory,
      ) => {
        const settings = config.pipeline;
        const runner = new StepRunner({
          repository,
          clock,
          events,
          running,
          logs,
          settings,
          random: Math.random,
        });
        const concurrency = config.recognition.threads;
        return new PipelineWorkers({
          steps: [
            { step: new ConvertStep(blobs, converter, config.limits), concurrency },
            { step: new DispatchStep(blobs, recognizer), concurrency },
            { step: new CollectStep(blobs, recognizer), concurrency },
          ],
          runner,
          schedule,
          events,
          running,
          draining,
          clock,
          logs,
          settings,
        });
      },
      inject: [
        JobRepository,
        BlobStore,
        MediaConverter,
        Recognizer,
        RunningSteps,
        PipelineEvents,
        Clock,
        AppConfig,
        PollSchedule,
        Draining,
        LogFactory,
      ],
    },
  ],
  exports: [PipelineFacade, PipelineEvents, JobRepository, MediaConverter, RecognitionModule],
})
export class PipelineModule implements OnApplicationBootstrap, OnModuleDestroy {
  private started = false;

  constructor(
    @Inject(AppConfig) private readonly config: AppConfig,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PipelineWorkers) private readonly workers: PipelineWorkers,
    @Inject(SweepLeftoversService) private readonly sweeper: SweepLeftoversService,
    @Inject(SpeechTidier) private readonly tidier: SpeechTidier,
    @Inject(DataDirPresence) private readonly presence: DataDirPresence,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // Other machines may share a PostgreSQL or a bucket; the lock only speaks for this one.
    const local = this.config.database.type === 'sqlite' && this.config.storage.url === undefined;
    await this.sweeper.sweepAtStart({
      aloneOnFolder: this.presence.alone,
      aloneOnStore: this.presence.alone && local,
    });
    await sweepScratch(scratchFolder(this.config.dataDir), this.presence.alone, this.clock.now());
    await this.presence.admitOthers();
    if (this.config.roles.has('pipeline')) {
      this.started = true;
      this.workers.start();
    }
  }

  async onModuleDestroy(): Promise<void> {
    if (this.started) {
      await this.workers.stop();
    }
    await this.tidier.stop();
  }
}
