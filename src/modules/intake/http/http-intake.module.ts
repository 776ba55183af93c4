import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ClockModule } from '../../../common/clock/clock.module';
import { ConfigModule } from '../../../common/config/config.module';
import { Draining } from '../../../common/lifecycle/draining';
import { LifecycleModule } from '../../../common/lifecycle/lifecycle.module';
import { StorageModule } from '../../../common/storage/storage.module';
import { PipelineModule } from '../../pipeline';
import { IntakeEvents } from '../intake.events';
import { IntakeModule } from '../intake.module';
import { RecordingEventsController } from './recording-events.controller';
import { RecordingsController } from './recordings.controller';
import { UploadRecording } from './upload-recording';

/** The way in over HTTP; part of a process whose ROLES name `api`. */
@Module({
  imports: [
    ClockModule,
    ConfigModule,
    LifecycleModule,
    StorageModule,
    PipelineModule,
    IntakeModule,
  ],
  controllers: [RecordingsController, RecordingEventsController],
  providers: [UploadRecording],
})
export class HttpIntakeModule
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  constructor(
    @Inject(UploadRecording) private readonly uploads: UploadRecording,
    @Inject(Draining) private readonly draining: Draining,
    @Inject(IntakeEvents) private readonly events: IntakeEvents,
  ) {}

  onApplicationBootstrap(): void {
    this.events.tell('up', { intake: 'http', up: true });
  }

  onModuleDestroy(): void {
    this.events.tell('up', { intake: 'http', up: false });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.draining.waitFor(this.uploads.idle());
  }
}
