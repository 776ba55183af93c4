import type { AppError } from '../../common/errors/app-error';
import type { ErrorCode } from '../../common/errors/error-registry';
import { failureFields, type Log } from '../../common/logging/log';

/**
 * Records of what is asked again and again by machines: one when a part goes down or fails in
 * another way than before, one when it is back. Not one for each time somebody asks.
 */
export class OutageLog {
  private readonly down = new Map<string, ErrorCode>();

  constructor(private readonly log: Log) {}

  /** @param failure null when the part is well */
  report(part: string, failure: AppError | null): void {
    if (failure === null) {
      if (this.down.delete(part)) {
        this.log.info('part is up again', { part });
      }
      return;
    }
    if (this.down.get(part) !== failure.code) {
      this.down.set(part, failure.code);
      this.log.warn('part is down', { part, ...failureFields(failure) });
    }
  }
}
