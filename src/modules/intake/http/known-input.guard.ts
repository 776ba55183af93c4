import {
  Inject,
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../common/errors/app-error';

const QUERY = 'steward:query-parameters';
const BODY = 'steward:reads-its-body';

/** Names the query parameters a route takes; without it a route takes none. */
export const QueryParameters = (...names: string[]) => SetMetadata(QUERY, names);

/** The route reads and checks its body itself; without it a route takes none. */
export const ReadsItsBody = () => SetMetadata(BODY, true);

/** Refuses what the route does not know: a misspelt filter must not look like an answer. */
@Injectable()
export class KnownInputGuard implements CanActivate {
  constructor(@Inject(Reflector) private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const handler = context.getHandler();
    checkQuery(
      request.query as object,
      this.reflector.get<string[] | undefined>(QUERY, handler) ?? [],
    );
    if (this.reflector.get<boolean | undefined>(BODY, handler) !== true) {
      refuseBody(request.body);
    }
    return true;
  }
}

function checkQuery(query: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(query)) {
    if (!known.includes(name)) {
      throw new AppError('invalid_parameter', {
        detail: `The query takes ${known.length === 0 ? 'no parameters' : known.join(', ')}`,
      });
    }
    if (typeof value !== 'string') {
      throw new AppError('invalid_parameter', { detail: `${name} may be given once` });
    }
  }
}

function refuseBody(body: unknown): void {
  const empty =
    body === undefined ||
    body === null ||
    (typeof body === 'object' && Object.keys(body).length === 0);
  if (!empty) {
    throw new AppError('invalid_parameter', { detail: 'The request takes no body' });
  }
}
