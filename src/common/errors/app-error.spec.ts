import { AppError, asAppError } from './app-error';
import { ERRORS, isErrorCode, type ErrorCode } from './error-registry';

const CODES = Object.keys(ERRORS) as ErrorCode[];

describe('AppError', () => {
  it.each(CODES)('%s takes level, status and retryability from the registry', (code) => {
    const error = new AppError(code);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'AppError', code, detail: ERRORS[code].title });
    const { level, status, retryable } = ERRORS[code];
    expect([error.level, error.status, error.retryable]).toEqual([level, status, retryable]);
    expect(isErrorCode(code)).toBe(true);
  });

  it('says what happened this time', () => {
    const error = new AppError('invalid_parameter', {
      detail: 'language must be two letters',
      parameter: 'language',
      retryAfterSeconds: 3,
    });
    expect(error.message).toBe('invalid_parameter: language must be two letters');
    expect(error).toMatchObject({ parameter: 'language', retryAfterSeconds: 3 });
  });

  it('keeps its cause for the log, and has none when there was none', () => {
    const cause = new Error('ENOSPC');
    expect(new AppError('storage_full', { cause }).cause).toBe(cause);
    expect('cause' in new AppError('storage_full')).toBe(false);
  });

  it('does not let the words of its cause into what leaves the process', () => {
    const error = new AppError('internal', { cause: new Error('/home/secret') });
    expect(error.message + error.detail).not.toContain('secret');
  });

  it('does not take words of the language for codes', () => {
    expect(isErrorCode('toString')).toBe(false);
    expect(isErrorCode('')).toBe(false);
  });
});

describe('asAppError', () => {
  it('leaves a failure of ours as it is', () => {
    const error = new AppError('not_media');
    expect(asAppError(error, 'storage_full')).toBe(error);
  });

  it('gives anything else the meaning asked for', () => {
    const cause = new TypeError('x is undefined');
    expect(asAppError(cause)).toMatchObject({ code: 'internal', cause });
    expect(asAppError(cause, 'storage_unavailable').code).toBe('storage_unavailable');
    expect(asAppError('a word')).toMatchObject({ code: 'internal', cause: 'a word' });
    expect(asAppError(undefined).code).toBe('internal');
  });
});
