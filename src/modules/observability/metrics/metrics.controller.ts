import { Controller, Get, Header, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { Registry } from 'prom-client';
import { Metrics } from './metrics';
import { ScrapedGauges } from './scraped-gauges';

const EXAMPLE = `# HELP transcriber_jobs Jobs in the queue, by state
# TYPE transcriber_jobs gauge
transcriber_jobs{state="created"} 2
transcriber_jobs{state="done"} 41
`;

@ApiTags('metrics')
@Controller('metrics')
export class MetricsController {
  constructor(
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(ScrapedGauges) private readonly gauges: ScrapedGauges,
  ) {}

  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Metrics for Prometheus',
    description: 'Gauges that cannot be read right now are left out; the rest is answered.',
  })
  @ApiProduces('text/plain')
  @ApiOkResponse({
    description: 'Text exposition format 0.0.4',
    content: { 'text/plain': { schema: { type: 'string' }, example: EXAMPLE } },
  })
  async scrape(): Promise<string> {
    await this.gauges.refresh();
    return this.metrics.registry.metrics();
  }
}
