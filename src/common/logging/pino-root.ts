import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { AppConfig } from '../config/app-config';

/**
 * The process's one pino logger. It writes synchronously, so that the last record before an exit is
 * not lost, and in the process itself: a worker thread would die with a crash before it had written.
 */
export function createPinoRoot(settings: AppConfig['log']): Logger {
  const options: pino.LoggerOptions = {
    level: settings.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  return settings.format === 'pretty'
    ? pino(
        options,
        pretty({
          sync: true,
          translateTime: 'SYS:HH:MM:ss',
          messageFormat: '{context}: {msg}',
          ignore: 'context',
        }),
      )
    : pino(options, pino.destination({ fd: 1, sync: true }));
}
