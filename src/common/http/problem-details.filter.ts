import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { AppError } from '../errors/app-error';
import { ERRORS, type ErrorCode } from '../errors/error-registry';
import { rememberFailure } from './request-failure';

/** RFC 9457, with our stable `code`. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_parameter',
  401: 'unauthorized',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  503: 'storage_unavailable',
};

/** The only place where an error becomes an HTTP answer. It does not log: the request's record carries the failure. */
@Catch()
export class ProblemDetailsFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    answerProblem(error, request, reply);
  }
}

/** Also for what the server refuses before there is a route, such as an address that is none. */
export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = asHttpFailure(error);
  rememberFailure(request, failure);
  if (reply.sent || request.raw.socket.destroyed) {
    return; // the client has gone, or the answer is already on its way
  }
  if (failure.retryAfterSeconds !== undefined) {
    void reply.header('retry-after', String(failure.retryAfterSeconds));
  }
  if (failure.code === 'unauthorized') {
    void reply.header('www-authenticate', 'Bearer');
  }
  void reply
    .status(failure.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(asProblem(failure, request.url)));
}

/** What is not even HTTP has no request to answer: the socket gets the same kind of document. */
export function answerBrokenRequest(error: Error, socket: Socket): void {
  if (!socket.writable || (error as { code?: unknown }).code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(asProblem(new AppError('invalid_parameter'), '/'));
  socket.end(
    'HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json; charset=utf-8\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

export function asProblem(failure: AppError, url: string): ProblemDetails {
  return {
    type: `urn:steward:error:${failure.code}`,
    title: ERRORS[failure.code].title,
    status: failure.status,
    detail: failure.detail,
    instance: url.split('?')[0] ?? url,
    code: failure.code,
  };
}

/** Errors of the framework carry a status of their own: Nest's exceptions, Fastify's parsers. */
export function asHttpFailure(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  const status = statusOf(error);
  const code = status === undefined ? undefined : CODE_OF_STATUS[status];
  // What the framework says of a refused request quotes its address: no cause, or it would be logged.
  if (status !== undefined && status >= 400 && status < 500) {
    return new AppError(code ?? 'invalid_parameter');
  }
  if (code !== undefined) {
    return new AppError(code, { cause: error });
  }
  return new AppError('internal', { cause: error });
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) {
    return error.getStatus();
  }
  const status = (error as { statusCode?: unknown } | null | undefined)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}
