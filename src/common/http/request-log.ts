import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FailureLevel } from '../errors/error-registry';
import { failureFields, type Log } from '../logging/log';
import type { HttpEvents } from './http-events';
import { failureOf } from './request-failure';

/** Asked for every few seconds by machines; of interest only when it fails. */
const QUIET_ROUTES = new Set(['/health/live', '/health/ready', '/metrics']);

/**
 * One record and one measurement for each request when its answer is out, or its client gone. It names
 * the route's template, never the raw address.
 */
export function installRequestLog(server: FastifyInstance, log: Log, events: HttpEvents): void {
  server.addHook('onResponse', (request, reply, done) => {
    const seconds = reply.elapsedTime / 1000;
    const route = routeOf(request);
    events.tell('response', {
      method: request.method,
      route,
      statusCode: reply.statusCode,
      seconds,
    });
    record(log, request, route, { status_code: reply.statusCode, seconds: round(seconds) });
    done();
  });
  server.addHook('onRequestAbort', (request, done) => {
    record(log, request, routeOf(request), { aborted: true });
    done();
  });
}

function record(
  log: Log,
  request: FastifyRequest,
  route: string,
  outcome: Readonly<Record<string, number | boolean>>,
): void {
  const failure = failureOf(request);
  const level: FailureLevel =
    failure !== undefined && failure.level !== 'info'
      ? failure.level
      : QUIET_ROUTES.has(route)
        ? 'debug'
        : 'info';
  log.write(level, 'request', {
    request_id: request.id,
    method: request.method,
    route,
    ...outcome,
    ...(failure === undefined ? {} : failureFields(failure)),
  });
}

function routeOf(request: FastifyRequest): string {
  return request.is404 ? 'unmatched' : (request.routeOptions.url ?? 'unmatched');
}

const round = (seconds: number): number => Math.round(seconds * 10_000) / 10_000;
