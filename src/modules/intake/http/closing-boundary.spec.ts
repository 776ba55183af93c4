import { EventEmitter } from 'node:events';
import type { FastifyRequest } from 'fastify';
import { ClosingBoundary } from './closing-boundary';

describe('ClosingBoundary', () => {
  const watch = (type: string, chunks: readonly string[]): ClosingBoundary => {
    const raw = new EventEmitter();
    const request = { headers: { 'content-type': type }, raw } as unknown as FastifyRequest;
    const boundary = ClosingBoundary.watch(request);
    for (const chunk of chunks) {
      raw.emit('data', Buffer.from(chunk));
    }
    return boundary;
  };
  const seen = (boundary: ClosingBoundary): boolean => {
    try {
      boundary.requireSeen();
      return true;
    } catch {
      return false;
    }
  };
  const TYPE = 'multipart/form-data; boundary=abc';

  it('sees the boundary at the end, also cut into single characters', () => {
    expect(seen(watch(TYPE, ['--abc\r\nx\r\n--abc--\r\n']))).toBe(true);
    expect(seen(watch(TYPE, [...'--abc\r\nx\r\n--abc--']))).toBe(true);
  });

  it('sees it behind a long body and before a short epilogue', () => {
    expect(
      seen(watch(TYPE, ['x'.repeat(100_000), '\r\n--ab', `c--\r\n${'epilogue'.repeat(500)}`])),
    ).toBe(true);
  });

  it('understands a quoted boundary', () => {
    expect(seen(watch('multipart/form-data; boundary="a b"', ['--a b--']))).toBe(true);
  });

  it('does not take a delimiter, half a boundary or another one for it', () => {
    expect(seen(watch(TYPE, ['--abc\r\n', 'x', '\r\n--abc-']))).toBe(false);
    expect(seen(watch(TYPE, ['--abd--']))).toBe(false);
    expect(seen(watch('multipart/form-data', ['--abc--']))).toBe(false);
  });
});
