import type { FastifyRequest } from 'fastify';
import type { AppError } from '../errors/app-error';

const failures = new WeakMap<object, AppError>();

/** Keeps the failure of a request for its one log record. */
export function rememberFailure(request: FastifyRequest, failure: AppError): void {
  failures.set(request.raw, failure);
}

export function failureOf(request: FastifyRequest): AppError | undefined {
  return failures.get(request.raw);
}
