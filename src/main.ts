import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from './app.setup';
import { AppError } from './common/errors/app-error';
import { loadConfig, type AppConfig } from './common/config/app-config';
import { failureFields, type Log } from './common/logging/log';
import { createPinoRoot } from './common/logging/pino-root';
import { PinoLogFactory } from './common/logging/pino.log-factory';

/** After the shutdown's own deadline: what still hangs then (a socket, a database) is left behind. */
const LAST_RESORT_MS = 900;

/** Files and folders of this process are for its own account alone. */
const OWNER_ONLY = 0o077;

async function main(): Promise<void> {
  process.umask(OWNER_ONLY); // the database holds what was said
  let log = bootLog();
  try {
    const config = loadConfig(process.env);
    const logs = new PinoLogFactory(createPinoRoot(config.log));
    log = logs.for('main');
    reportStrayErrors(log);
    const app = await createApp(config, logs);
    stopOnSignal(app, config, log);
    await app.init();
    announce(await listen(app, config), config);
  } catch (error) {
    log.error('cannot start', { ...failureFields(error), detail: publicDetail(error) });
    process.exit(1);
  }
}

/** Through Fastify itself: Nest would log a failure to listen, which is recorded here already. */
async function listen(app: NestFastifyApplication, config: AppConfig): Promise<string> {
  const { host, port } = config.http;
  try {
    return await app.getHttpAdapter().getInstance().listen({ host, port });
  } catch (cause) {
    throw new AppError('config_invalid', { detail: 'HOST, PORT: cannot listen there', cause });
  }
}

/** Before the settings are known, and for settings that are wrong. */
const bootLog = (): Log =>
  new PinoLogFactory(
    createPinoRoot({ level: 'info', format: process.stdout.isTTY ? 'pretty' : 'json' }),
  ).for('main');

const publicDetail = (error: unknown): string | undefined =>
  (error as { detail?: unknown } | null)?.detail as string | undefined;

/** The one line that says where; it is printed whatever LOG_LEVEL is, because callers wait for it. */
function announce(url: string, config: AppConfig): void {
  const address = url.replace('[::1]', 'localhost');
  new PinoLogFactory(createPinoRoot({ ...config.log, level: 'info' }))
    .for('main')
    .info(`listening on ${address}`);
}

function stopOnSignal(app: NestFastifyApplication, config: AppConfig, log: Log): void {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) {
      return; // a second signal changes nothing
    }
    stopping = true;
    log.info('stopping', { signal });
    const lastResort = setTimeout(() => {
      log.warn('stopped without finishing everything', {});
      process.exit(0);
    }, config.shutdownTimeoutMs + LAST_RESORT_MS);
    lastResort.unref();
    app.close().then(
      () => {
        log.info('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        log.error('stop failed', failureFields(error));
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
}

/** Node would print the raw error itself, past the log and its rules. */
function reportStrayErrors(log: Log): void {
  const report = (error: unknown): void => {
    log.error('unexpected error, the process ends', failureFields(error));
    process.exit(1);
  };
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}

void main();
