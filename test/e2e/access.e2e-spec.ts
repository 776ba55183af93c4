import { ApiClient } from '../support/api-client';
import { StewardProcess } from '../support/steward-process';
import { removeTempDirs, tempDir } from '../support/temp-dir';

const KEY = 'secret-canary-key-1';

describe('who may use the API', () => {
  let steward: StewardProcess;

  beforeAll(async () => {
    steward = await StewardProcess.start({
      DATA_DIR: await tempDir('data'),
      API_KEYS: `phone:${KEY}, laptop:another-long-key`,
      ROLES: 'api',
    });
  });
  afterAll(async () => {
    await steward.stop();
    await removeTempDirs();
  });

  it('Scenario: without a valid key nothing of the API is served', async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer wrong-key' },
      { authorization: `Basic ${KEY}` },
      { authorization: `Bearer ${KEY}x` },
      { authorization: 'Bearer ' },
    ]) {
      const response = await new ApiClient(steward.url).call('/v1/recordings', { headers });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await response.json()).toMatchObject({ code: 'unauthorized' });
    }
    for (const key of [KEY, 'another-long-key']) {
      const client = new ApiClient(steward.url, { authorization: `Bearer ${key}` });
      expect((await client.call('/v1/recordings')).status).toBe(200);
    }
  });

  it('Scenario: one key does not meet the idempotency keys of another', async () => {
    const headers = { 'idempotency-key': 'same' };
    const answers: number[] = [];
    for (const key of [KEY, 'another-long-key']) {
      const client = new ApiClient(steward.url, { authorization: `Bearer ${key}` });
      answers.push((await client.send(new Uint8Array([1]), 'a.wav', { headers })).status);
    }
    expect(answers).toEqual([202, 202]);
  });

  it('Scenario: health, metrics and documentation are served to everybody', async () => {
    const client = new ApiClient(steward.url);
    for (const path of ['/health/live', '/metrics', '/openapi.json', '/docs']) {
      expect([path, (await client.call(path)).status]).toEqual([path, 200]);
    }
  });

  it('Scenario: a key is never written to the output', () => {
    expect(steward.output).not.toContain(KEY);
    expect(steward.output).not.toContain('another-long-key');
  });
});

describe('settings at start', () => {
  afterAll(removeTempDirs);

  it.each([
    [{ PORT: 'canary-value' }, 'PORT'],
    [{ HOST: '0.0.0.0' }, 'API_KEYS'],
    [{ API_KEYS: 'canary-value' }, 'API_KEYS'],
    [{ ROLES: 'api,canary-value' }, 'ROLES'],
    [{ DATABASE_URL: 'mysql://canary-value' }, 'DATABASE_URL'],
    [{ PIPELINE_POLL_MS: '-1' }, 'PIPELINE_POLL_MS'],
    [{ RECOGNIZER: 'canary-value' }, 'RECOGNIZER'],
  ])(
    'Scenario: a bad setting stops the start and is named, its value is not: %j',
    async (wrong, name) => {
      const steward = StewardProcess.spawn({
        DATA_DIR: await tempDir('data'),
        ...(wrong as Record<string, string>),
      });
      expect(await steward.exited).not.toBe(0);
      expect(steward.records).toHaveLength(1);
      expect(steward.records[0]).toMatchObject({ level: 'error', code: 'config_invalid' });
      expect(String(steward.records[0]?.['detail'])).toContain(name);
      expect(steward.output).not.toContain('canary-value');
    },
  );

  it('says in one record that its port is taken', async () => {
    const first = await StewardProcess.start({ DATA_DIR: await tempDir('data'), ROLES: 'api' });
    const second = StewardProcess.spawn({
      DATA_DIR: await tempDir('data'),
      ROLES: 'api',
      PORT: new URL(first.url).port,
    });
    expect(await second.exited).toBe(1);
    expect(second.records.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(second.output).toContain('EADDRINUSE');
    await first.stop();
  });
});
