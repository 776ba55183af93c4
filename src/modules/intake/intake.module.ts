import { Module } from '@nestjs/common';
import { logListenerFailure } from '../../common/events/listener-failure';
import { LogFactory } from '../../common/logging/log';
import { LoggingModule } from '../../common/logging/logging.module';
import { PipelineFacade, PipelineModule } from '../pipeline';
import { AcceptRecordingService } from './application/accept-recording.service';
import { IntakeEvents } from './intake.events';

/** What every way in shares: how a recording is accepted, and what is told about the doors. */
@Module({
  imports: [LoggingModule, PipelineModule],
  providers: [
    {
      provide: IntakeEvents,
      useFactory: (logs: LogFactory) => new IntakeEvents(logListenerFailure(logs)),
      inject: [LogFactory],
    },
    {
      provide: AcceptRecordingService,
      useFactory: (pipeline: PipelineFacade, logs: LogFactory) =>
        new AcceptRecordingService(pipeline, logs),
      inject: [PipelineFacade, LogFactory],
    },
  ],
  exports: [IntakeEvents, AcceptRecordingService],
})
export class IntakeModule {}
