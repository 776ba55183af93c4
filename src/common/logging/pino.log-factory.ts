import type { Logger } from 'pino';
import type { FailureLevel } from '../errors/error-registry';
import { Log, LogFactory, type LogFields } from './log';

export class PinoLogFactory extends LogFactory {
  constructor(private readonly root: Logger) {
    super();
  }

  for(context: string): Log {
    return new PinoLog(this.root.child({ context }));
  }
}

class PinoLog extends Log {
  constructor(private readonly logger: Logger) {
    super();
  }

  write(level: FailureLevel, message: string, fields: LogFields = {}): void {
    this.logger[level](fields, message);
  }
}
