import { Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../common/clock/clock';
import { ClockModule } from '../../common/clock/clock.module';
import { logListenerFailure } from '../../common/events/listener-failure';
import { LogFactory } from '../../common/logging/log';
import { LoggingModule } from '../../common/logging/logging.module';
import { PipelineFacade, PipelineModule } from '../pipeline';
import { AcceptRecordingService } from './application/accept-recording.service';
import { DoubtfulRecordings } from './application/doubtful-recordings';
import { IntakeEvents } from './intake.events';

/** What every way in shares: how a recording is accepted, and what is told about the doors. */
@Module({
  imports: [ClockModule, LoggingModule, PipelineModule],
  providers: [
    {
      provide: IntakeEvents,
      useFactory: (logs: LogFactory) => new IntakeEvents(logListenerFailure(logs)),
      inject: [LogFactory],
    },
    {
      provide: DoubtfulRecordings,
      useFactory: (pipeline: PipelineFacade, clock: Clock) =>
        new DoubtfulRecordings(pipeline, clock),
      inject: [PipelineFacade, Clock],
    },
    {
      provide: AcceptRecordingService,
      useFactory: (pipeline: PipelineFacade, doubts: DoubtfulRecordings, logs: LogFactory) =>
        new AcceptRecordingService(pipeline, doubts, logs),
      inject: [PipelineFacade, DoubtfulRecordings, LogFactory],
    },
  ],
  exports: [IntakeEvents, AcceptRecordingService],
})
export class IntakeModule implements OnModuleDestroy {
  constructor(@Inject(DoubtfulRecordings) private readonly doubts: DoubtfulRecordings) {}

  onModuleDestroy(): void {
    this.doubts.stop();
  }
}
