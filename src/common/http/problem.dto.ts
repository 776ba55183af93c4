import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from '../errors/error-registry';
import { asProblem } from './problem-details.filter';
import { AppError } from '../errors/app-error';

export class ProblemDto {
  @ApiProperty({ example: 'urn:steward:error:not_found' })
  type!: string;

  @ApiProperty({ example: 'There is no such resource' })
  title!: string;

  @ApiProperty({ example: 404 })
  status!: number;

  @ApiProperty({ example: 'There is no recording with this id' })
  detail!: string;

  @ApiProperty({ example: '/v1/recordings/0193d4a2-6f3e-7c41-9d0a-5b1f2f3c4d5e' })
  instance!: string;

  @ApiProperty({ enum: Object.keys(ERRORS), example: 'not_found' })
  code!: string;
}

/** Documents the errors of a route: one response for each status, one example for each code. */
export function ApiProblems(...codes: readonly ErrorCode[]): MethodDecorator & ClassDecorator {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return applyDecorators(
    ...[...byStatus].map(([status, codesOfStatus]) =>
      ApiResponse({
        status,
        description: codesOfStatus.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
        content: {
          'application/problem+json': {
            schema: { $ref: getSchemaPath(ProblemDto) },
            examples: Object.fromEntries(
              codesOfStatus.map((code) => [
                code,
                { value: asProblem(new AppError(code), '/v1/recordings') },
              ]),
            ),
          },
        },
      }),
    ),
  );
}
