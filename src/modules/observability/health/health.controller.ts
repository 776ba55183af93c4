import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { HealthCheckResult } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { LivenessDto, READY_EXAMPLE, ReadinessDto, UNREADY_EXAMPLE } from './health.dto';
import { Readiness } from './readiness';

@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(@Inject(Readiness) private readonly readiness: Readiness) {}

  @Get('live')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Is the process alive?',
    description: 'Asks nothing outside the process: a restart would not bring a disk back.',
  })
  @ApiOkResponse({ type: LivenessDto })
  live(): LivenessDto {
    return { status: 'ok' };
  }

  @Get('ready')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Can it do its work right now?',
    description:
      'Part by part: draining, database, storage and, where recordings are transcribed, ' +
      'converter and engine. A part that does not answer in time counts as down.',
  })
  @ApiOkResponse({ type: ReadinessDto, example: READY_EXAMPLE })
  @ApiServiceUnavailableResponse({
    type: ReadinessDto,
    description: 'At least one part is down, or the process is stopping',
    example: UNREADY_EXAMPLE,
  })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthCheckResult> {
    const result = await this.readiness.check();
    void reply.status(result.status === 'ok' ? 200 : 503);
    return result;
  }
}
