import { ApiProperty, ApiPropertyOptional, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../../../common/errors/error-registry';

export class LivenessDto {
  @ApiProperty({ enum: ['ok'], example: 'ok' })
  status!: 'ok';
}

export class HealthPartDto {
  @ApiProperty({ enum: ['up', 'down'], example: 'up' })
  status!: 'up' | 'down';

  @ApiPropertyOptional({ type: String, example: 'storage_full', description: 'When it is down' })
  code?: ErrorCode;
}

const parts = (description: string) =>
  ({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(HealthPartDto) },
    description,
  }) as const;

/** The shape is Terminus' own, which monitoring tools know. */
@ApiExtraModels(HealthPartDto)
export class ReadinessDto {
  @ApiProperty({ enum: ['ok', 'error', 'shutting_down'], example: 'ok' })
  status!: 'ok' | 'error' | 'shutting_down';

  @ApiProperty(parts('Parts that are up'))
  info!: Record<string, HealthPartDto>;

  @ApiProperty(parts('Parts that are down'))
  error!: Record<string, HealthPartDto>;

  @ApiProperty(parts('All parts'))
  details!: Record<string, HealthPartDto>;
}

const up = { status: 'up' } as const;
const storage = { status: 'down', code: 'storage_full' } as const;
const others = { draining: up, database: up, converter: up, engine: up };

export const READY_EXAMPLE: ReadinessDto = {
  status: 'ok',
  info: { ...others, storage: up },
  error: {},
  details: { ...others, storage: up },
};

export const UNREADY_EXAMPLE: ReadinessDto = {
  status: 'error',
  info: others,
  error: { storage },
  details: { ...others, storage },
};
