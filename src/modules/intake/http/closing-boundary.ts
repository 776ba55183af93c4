import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../common/errors/app-error';

/** RFC 2046 allows 70 characters, and four dashes frame the last one. */
const TAIL_BYTES = 256;

/**
 * Watches a multipart body for its closing boundary. The parser takes a body that breaks off for one
 * that ended, so a cut upload would pass for a whole one.
 */
export class ClosingBoundary {
  private tail = Buffer.alloc(0);
  private seen = false;

  private constructor(private readonly mark: string | null) {}

  static watch(request: FastifyRequest): ClosingBoundary {
    const type = request.headers['content-type'] ?? '';
    const match = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
    const name = match?.[1] ?? match?.[2];
    const watcher = new ClosingBoundary(name === undefined ? null : `--${name}--`);
    request.raw.on('data', (chunk: Buffer) => watcher.look(chunk));
    return watcher;
  }

  /** @throws AppError `invalid_parameter` */
  requireSeen(): void {
    if (!this.seen) {
      throw ClosingBoundary.missing();
    }
  }

  static missing(): AppError {
    return new AppError('invalid_parameter', {
      detail: 'The body broke off before its closing boundary',
    });
  }

  private look(chunk: Buffer): void {
    if (this.mark === null || this.seen) {
      return;
    }
    const head = chunk.subarray(0, TAIL_BYTES);
    this.seen = chunk.includes(this.mark) || Buffer.concat([this.tail, head]).includes(this.mark);
    this.tail = Buffer.concat([this.tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }
}
