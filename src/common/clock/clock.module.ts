import { Module } from '@nestjs/common';
import { Clock } from './clock';
import { SystemClock } from './system-clock';

@Module({ providers: [{ provide: Clock, useClass: SystemClock }], exports: [Clock] })
export class ClockModule {}
