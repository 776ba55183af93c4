import type { HttpEvents } from '../../../common/http/http-events';
import type { IntakeEvents } from '../../intake';
import { refusalReason } from './label-values';
import type { Metrics } from './metrics';

/** Counts what the intakes tell. */
export function countIntake(events: IntakeEvents, metrics: Metrics): void {
  events.on('up', ({ intake, up }) => {
    metrics.intakeUp.set({ intake }, up ? 1 : 0);
  });
  events.on('refused', ({ intake, reason }) => {
    metrics.intakeRefused.inc({ intake, reason: refusalReason(reason) });
  });
}

/** Measures what the HTTP server has answered. */
export function measureHttp(events: HttpEvents, metrics: Metrics): void {
  events.on('response', ({ method, route, statusCode, seconds }) => {
    metrics.httpDuration.observe({ method, route, status_code: statusCode }, seconds);
  });
}
