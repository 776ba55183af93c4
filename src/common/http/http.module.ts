import { Module } from '@nestjs/common';
import { HttpEvents } from './http-events';

@Module({ providers: [HttpEvents], exports: [HttpEvents] })
export class HttpModule {}
