import { HttpEvents } from '../../../common/http/http-events';
import { IntakeEvents } from '../../intake';
import { countIntake, measureHttp } from './door-metrics';
import { Metrics } from './metrics';

describe('countIntake', () => {
  it('shows an intake only once it has said how it is', async () => {
    const events = new IntakeEvents();
    const metrics = new Metrics();
    countIntake(events, metrics);
    const shown = () => metrics.registry.getSingleMetricAsString('transcriber_intake_up');
    expect(await shown()).not.toContain('intake=');
    events.tell('up', { intake: 'http', up: true });
    expect(await shown()).toContain('transcriber_intake_up{intake="http"} 1');
    events.tell('up', { intake: 'http', up: false });
    expect(await shown()).toContain('transcriber_intake_up{intake="http"} 0');
    expect(await shown()).not.toContain('telegram');
  });

  it('counts refusals by reason and keeps the set of reasons closed', async () => {
    const events = new IntakeEvents();
    const metrics = new Metrics();
    countIntake(events, metrics);
    events.tell('refused', { intake: 'http', reason: 'empty_file' });
    events.tell('refused', { intake: 'telegram', reason: 'stranger' });
    events.tell('refused', { intake: 'telegram', reason: 'a text of somebody' });
    const text = await metrics.registry.getSingleMetricAsString('transcriber_intake_refused_total');
    const line = (intake: string, reason: string) =>
      `transcriber_intake_refused_total{intake="${intake}",reason="${reason}"}`;
    expect(text).toContain(`${line('http', 'empty_file')} 1`);
    expect(text).toContain(`${line('http', 'payload_too_large')} 0`);
    expect(text).toContain(`${line('telegram', 'stranger')} 1`);
    expect(text).toContain(`${line('telegram', 'internal')} 1`);
    expect(text).not.toContain('somebody');
  });
});

describe('measureHttp', () => {
  it('measures answers by method, template and status', async () => {
    const events = new HttpEvents();
    const metrics = new Metrics();
    measureHttp(events, metrics);
    const route = '/v1/recordings/:id';
    events.tell('response', { method: 'GET', route, statusCode: 404, seconds: 0.25 });
    expect(
      await metrics.registry.getSingleMetricAsString('http_request_duration_seconds'),
    ).toContain(
      `http_request_duration_seconds_sum{method="GET",route="${route}",status_code="404"} 0.25`,
    );
  });
});
