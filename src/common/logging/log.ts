import { asAppError, type AppError } from '../errors/app-error';
import type { FailureLevel } from '../errors/error-registry';
import { errorChain } from '../errors/noop';

/** Field names are snake_case words of docs/conventions/logging.md; values never hold texts of users. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log of one context. One record for one event; docs/conventions/logging.md. */
export abstract class Log {
  abstract write(level: FailureLevel, message: string, fields?: LogFields): void;

  debug(message: string, fields?: LogFields): void {
    this.write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.write('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.write('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.write('error', message, fields);
  }
}

export abstract class LogFactory {
  abstract for(context: string): Log;
}

const LONGEST_REASON = 1000;

/** A failure as log fields: its code, and the words of its causes, outermost first. */
export function failureFields(error: unknown): LogFields & { readonly code: string } {
  const failure: AppError = asAppError(error);
  const words: string[] = [];
  for (const link of errorChain(failure)) {
    if (link !== failure) {
      words.push(link instanceof Error ? link.message : typeof link);
    }
  }
  const reason = words.join(': ').slice(0, LONGEST_REASON);
  return { code: failure.code, ...(reason === '' ? {} : { reason }) };
}
