import { failureFields, type LogFactory } from '../logging/log';
import type { ListenerFailure } from './typed-events';

/** Puts the failure of a listener into the log: the owner's figures or streams may be behind. */
export function logListenerFailure(logs: LogFactory): ListenerFailure {
  const log = logs.for('events');
  return (event, error) => log.error('listener failed', { event, ...failureFields(error) });
}
