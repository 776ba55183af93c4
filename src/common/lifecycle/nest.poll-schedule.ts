import { Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { PollSchedule } from './poll-schedule.port';

/**
 * The pace of a worker is a setting, and @Interval fixes it when the file is loaded; so the interval
 * is registered by hand, where Nest clears it at shutdown.
 */
@Injectable()
export class NestPollSchedule extends PollSchedule {
  constructor(private readonly registry: SchedulerRegistry) {
    super();
  }

  every(name: string, intervalMs: number, tick: () => void): void {
    this.registry.addInterval(name, setInterval(tick, intervalMs));
  }

  stop(name: string): void {
    if (this.registry.doesExist('interval', name)) {
      this.registry.deleteInterval(name);
    }
  }
}
