import type { FailureLevel } from '../../src/common/errors/error-registry';
import { Log, LogFactory, type LogFields } from '../../src/common/logging/log';

export interface LogRecord {
  readonly context: string;
  readonly level: FailureLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps what was logged, for tests that look at it. */
export class FakeLogFactory extends LogFactory {
  readonly records: LogRecord[] = [];

  for(context: string): Log {
    const { records } = this;
    return new (class extends Log {
      write(level: FailureLevel, message: string, fields: LogFields = {}): void {
        records.push({ context, level, message, fields });
      }
    })();
  }

  /** Records an owner would see: not debug. */
  get visible(): readonly LogRecord[] {
    return this.records.filter(({ level }) => level !== 'debug');
  }
}
