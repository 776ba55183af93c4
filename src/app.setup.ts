import multipart from '@fastify/multipart';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';
import { AppConfig } from './common/config/app-config';
import { AppError } from './common/errors/app-error';
import { HttpEvents } from './common/http/http-events';
import {
  answerBrokenRequest,
  answerProblem,
  ProblemDetailsFilter,
} from './common/http/problem-details.filter';
import { installRequestLog } from './common/http/request-log';
import type { LogFactory } from './common/logging/log';
import { NestLogBridge } from './common/logging/nest-log-bridge';
import { serveOpenApi } from './openapi';
import { VERSION } from './version';

/** A connection that says nothing for this long is closed; a slow upload still moves bytes. */
const SILENT_CONNECTION_MS = 120_000;

/** The whole application, not yet listening: shared by the program and the tests. */
export async function createApp(
  config: AppConfig,
  logs: LogFactory,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    connectionTimeout: SILENT_CONNECTION_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: answerProblem,
    clientErrorHandler: answerBrokenRequest,
  });
  takeEmptyBodies(adapter);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoles(config.roles),
    adapter,
    { logger: new NestLogBridge(logs.for('nest')), abortOnError: false },
  );
  app.useGlobalFilters(new ProblemDetailsFilter());
  await app.register(multipart);
  installRequestLog(adapter.getInstance(), logs.for('http'), app.get(HttpEvents));
  if (config.roles.has('api')) {
    serveOpenApi(app, VERSION);
    adapter.getInstance().get('/', (_request, reply) => reply.redirect('/docs', 302));
  }
  return app;
}

/** Many clients announce JSON on every request; a body that is not there is no fault of theirs. */
function takeEmptyBodies(adapter: FastifyAdapter): void {
  adapter.useBodyParser('application/json', false, {}, (_request, body: Buffer, done) => {
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    try {
      done(null, JSON.parse(body.toString()));
    } catch (cause) {
      const detail = 'The body is not valid JSON';
      done(new AppError('invalid_parameter', { detail, cause }), undefined);
    }
  });
}
