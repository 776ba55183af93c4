import { ServiceUnavailableException } from '@nestjs/common';
import type {
  HealthCheckResult,
  HealthCheckService,
  HealthIndicatorResult,
  HealthIndicatorService,
} from '@nestjs/terminus';
import { asAppError } from '../../../common/errors/app-error';
import type { Draining } from '../../../common/lifecycle/draining';
import type { BoundedReading } from '../bounded-reading';
import type { OutageLog } from '../outage-log';

export type PartName = 'database' | 'storage' | 'converter' | 'engine';

export interface HealthPart {
  readonly name: PartName;
  /** Throws when the part is down. */
  readonly reading: BoundedReading<void>;
}

/** Whether this process can do its work right now, part by part. */
export class Readiness {
  constructor(
    private readonly terminus: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly parts: readonly HealthPart[],
    private readonly draining: Draining,
    private readonly outages: OutageLog,
  ) {}

  /** Answers within the bound of a reading; never throws for a part that is down. */
  async check(): Promise<HealthCheckResult> {
    // A process that stops starts no children and asks nothing more of its database.
    const parts = this.draining.begun ? [] : this.parts;
    try {
      return await this.terminus.check([
        () => this.askDraining(),
        ...parts.map((part) => () => this.ask(part)),
      ]);
    } catch (error) {
      // Terminus throws the result it has made. As an exception it would be recorded as a failure
      // of the service, one for each probe.
      if (error instanceof ServiceUnavailableException) {
        return error.getResponse() as HealthCheckResult;
      }
      throw error;
    }
  }

  private async ask({ name, reading }: HealthPart): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check(name);
    try {
      await reading.get();
      this.outages.report(name, null);
      return indicator.up();
    } catch (error) {
      const failure = asAppError(error);
      this.outages.report(name, failure);
      return indicator.down({ code: failure.code });
    }
  }

  private askDraining(): HealthIndicatorResult {
    const indicator = this.indicators.check('draining');
    return this.draining.begun ? indicator.down({ code: 'shutting_down' }) : indicator.up();
  }
}
