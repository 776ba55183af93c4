import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppConfig } from '../../../common/config/app-config';
import { AppError } from '../../../common/errors/app-error';
import { IntakeEvents } from '../intake.events';

const senders = new WeakMap<object, string>();

/** Name of the key that the request came with; empty when no keys are set. */
export const senderOf = (request: FastifyRequest): string => senders.get(request.raw) ?? '';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Lets in who shows one of API_KEYS. Every key is compared, each in constant time, so that the answer's
 * time tells nothing about any of them.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly keys: readonly { readonly name: string; readonly digest: Buffer }[];

  constructor(
    @Inject(AppConfig) config: AppConfig,
    @Inject(IntakeEvents) private readonly events: IntakeEvents,
  ) {
    this.keys = config.apiKeys.map(({ name, key }) => ({ name, digest: digest(key) }));
  }

  canActivate(context: ExecutionContext): boolean {
    if (this.keys.length === 0) {
      return true;
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const given = digest(/^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '');
    const matching = this.keys.filter((key) => timingSafeEqual(key.digest, given));
    if (matching[0] === undefined) {
      this.events.tell('refused', { intake: 'http', reason: 'unauthorized' });
      throw new AppError('unauthorized');
    }
    senders.set(request.raw, matching[0].name);
    return true;
  }
}
