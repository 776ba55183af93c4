import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Clock } from '../clock/clock';
import { ClockModule } from '../clock/clock.module';
import { AppConfig } from '../config/app-config';
import { ConfigModule } from '../config/config.module';
import { Draining } from './draining';
import { NestPollSchedule } from './nest.poll-schedule';
import { PollSchedule } from './poll-schedule.port';

@Module({
  imports: [ClockModule, ConfigModule, ScheduleModule.forRoot()],
  providers: [
    { provide: PollSchedule, useClass: NestPollSchedule },
    {
      provide: Draining,
      useFactory: (clock: Clock, config: AppConfig) =>
        new Draining(clock, config.shutdownTimeoutMs),
      inject: [Clock, AppConfig],
    },
  ],
  exports: [PollSchedule, Draining],
})
export class LifecycleModule {}
