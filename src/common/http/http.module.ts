import { Module } from '@nestjs/common';
import { logListenerFailure } from '../events/listener-failure';
import { LogFactory } from '../logging/log';
import { LoggingModule } from '../logging/logging.module';
import { HttpEvents } from './http-events';

@Module({
  imports: [LoggingModule],
  providers: [
    {
      provide: HttpEvents,
      useFactory: (logs: LogFactory) => new HttpEvents(logListenerFailure(logs)),
      inject: [LogFactory],
    },
  ],
  exports: [HttpEvents],
})
export class HttpModule {}
