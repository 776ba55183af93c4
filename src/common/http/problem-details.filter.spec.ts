import { BadRequestException, NotFoundException } from '@nestjs/common';
import { AppError } from '../errors/app-error';
import { ERRORS, type ErrorCode } from '../errors/error-registry';
import { asHttpFailure, asProblem } from './problem-details.filter';

describe('errors as HTTP answers', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])(
    'says %s with its own code, status and title',
    (code) => {
      expect(asProblem(asHttpFailure(new AppError(code)), '/v1/x?secret=1')).toEqual({
        type: `urn:steward:error:${code}`,
        title: ERRORS[code].title,
        status: ERRORS[code].status,
        detail: ERRORS[code].title,
        instance: '/v1/x',
        code,
      });
    },
  );

  it.each([
    [new NotFoundException(), 'not_found'],
    [new BadRequestException('upstream words'), 'invalid_parameter'],
    [Object.assign(new Error('x'), { statusCode: 413 }), 'payload_too_large'],
    [Object.assign(new Error('x'), { statusCode: 415 }), 'unsupported_media_type'],
    [Object.assign(new Error('x'), { statusCode: 418 }), 'invalid_parameter'],
    [new TypeError('a bug with a /path'), 'internal'],
    ['not even an error', 'internal'],
  ])('gives %j our code', (error, code) => {
    const failure = asHttpFailure(error);
    expect(failure.code).toBe(code);
    expect(failure.detail).toBe(ERRORS[failure.code].title); // never the words of others
  });
});
