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

const KEY = 'steward:query-parameters';

/** Names the query parameters a route takes; without it a route takes none. */
export const QueryParameters = (...names: string[]) => SetMetadata(KEY, names);

/** Refuses query parameters that the route does not know: a misspelt filter must not look like an answer. */
@Injectable()
export class KnownQueryGuard implements CanActivate {
  constructor(@Inject(Reflector) private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const known = this.reflector.get<string[] | undefined>(KEY, context.getHandler()) ?? [];
    const query = context.switchToHttp().getRequest<FastifyRequest>().query as object;
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
    return true;
  }
}
