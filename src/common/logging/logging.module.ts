import { Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config';
import { ConfigModule } from '../config/config.module';
import { LogFactory } from './log';
import { createPinoRoot } from './pino-root';
import { PinoLogFactory } from './pino.log-factory';

@Module({
  imports: [ConfigModule],
  providers: [
    {
      provide: LogFactory,
      useFactory: (config: AppConfig) => new PinoLogFactory(createPinoRoot(config.log)),
      inject: [AppConfig],
    },
  ],
  exports: [LogFactory],
})
export class LoggingModule {}
