import type { LoggerService } from '@nestjs/common';
import type { Log } from './log';

/**
 * Nest's own words in our log. What Nest tells at every start is of interest to developers only; of a
 * failure only the message is taken, because Nest hands over raw error objects.
 */
export class NestLogBridge implements LoggerService {
  constructor(private readonly target: Log) {}

  log(message: unknown): void {
    this.target.debug(words(message));
  }

  debug(message: unknown): void {
    this.target.debug(words(message));
  }

  verbose(message: unknown): void {
    this.target.debug(words(message));
  }

  warn(message: unknown): void {
    this.target.warn(words(message));
  }

  error(message: unknown, ...more: unknown[]): void {
    // A start that fails is thrown as well, and recorded once, by whoever started it.
    const level = more.at(-1) === 'ExceptionHandler' ? 'debug' : 'error';
    this.target.write(level, words(message));
  }

  fatal(message: unknown): void {
    this.target.error(words(message));
  }
}

function words(message: unknown): string {
  if (message instanceof Error) {
    return `${message.name}: ${message.message}`;
  }
  return typeof message === 'string' ? message : 'message without words';
}
