import { join, resolve } from 'node:path';
import { AppError } from '../errors/app-error';
import { loadConfig } from './app-config';

const CANARY = 'canary-value';

/** The refusal's public words. */
function refusal(environment: Readonly<Record<string, string>>): string {
  try {
    loadConfig(environment, false);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'config_invalid' });
    return (error as AppError).detail;
  }
  throw new Error('the settings were accepted');
}

describe('loadConfig', () => {
  it('starts on nothing at all: loopback, SQLite and files below ./data, every role', () => {
    const config = loadConfig({}, false);
    expect(config.http).toEqual({ host: '127.0.0.1', port: 3000 });
    expect(config.apiKeys).toEqual([]);
    expect(config.dataDir).toBe(resolve('data'));
    expect(config.database).toEqual({
      type: 'sqlite',
      file: join(resolve('data'), 'steward.sqlite'),
    });
    expect(config.storage).toEqual({ url: undefined, minFreeBytes: 268_435_456 });
    expect([...config.roles]).toEqual(['api', 'pipeline', 'telegram', 'walk']);
    expect(config.media).toEqual({ ffmpegPath: 'ffmpeg', ffprobePath: 'ffprobe' });
    expect(config.shutdownTimeoutMs).toBe(10_000);
  });

  it('counts an empty or blank value as not set', () => {
    const blank = { PORT: '', API_KEYS: ' ', ROLES: '\t', DATABASE_URL: '', LOG_LEVEL: '  ' };
    expect(loadConfig(blank, false)).toEqual(loadConfig({}, false));
  });

  it('reads every kind of setting', () => {
    const config = loadConfig(
      {
        HOST: '::1',
        PORT: '0',
        API_KEYS: 'phone:key-with:colons, laptop:12345678',
        DATA_DIR: '/srv/steward',
        DATABASE_URL: 'postgresql://u:p@db/steward',
        STORAGE_URL: 's3://bucket',
        ROLES: 'api, pipeline',
        RECOGNIZER_THREADS: '3',
        PIPELINE_BACKOFF_BASE_MS: '7',
        PIPELINE_BACKOFF_MAX_MS: '7',
      },
      false,
    );
    expect(config.http).toEqual({ host: '::1', port: 0 });
    expect(config.apiKeys).toEqual([
      { name: 'phone', key: 'key-with:colons' },
      { name: 'laptop', key: '12345678' },
    ]);
    expect(config.dataDir).toBe('/srv/steward');
    expect(config.database).toEqual({ type: 'postgres', url: 'postgresql://u:p@db/steward' });
    expect(config.storage.url).toBe('s3://bucket');
    expect([...config.roles]).toEqual(['api', 'pipeline']);
    expect(config.recognition.threads).toBe(3);
    expect(config.pipeline).toMatchObject({ backoffBaseMs: 7, backoffMaxMs: 7 });
  });

  it('writes for people on a terminal and for machines elsewhere, unless told', () => {
    expect(loadConfig({}, true).log.format).toBe('pretty');
    expect(loadConfig({}, false).log.format).toBe('json');
    expect(loadConfig({ LOG_FORMAT: 'json' }, true).log.format).toBe('json');
    expect(loadConfig({ LOG_FORMAT: 'pretty' }, false).log.format).toBe('pretty');
  });

  it.each([
    ['PORT', CANARY],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3000.5'],
    ['API_KEYS', CANARY],
    ['API_KEYS', 'name:short'],
    ['API_KEYS', `twice:${CANARY},twice:${CANARY}`],
    ['API_KEYS', `name with spaces:${CANARY}`],
    ['DATABASE_URL', `mysql://${CANARY}`],
    ['STORAGE_URL', `https://${CANARY}`],
    ['ROLES', `api,${CANARY}`],
    ['LOG_LEVEL', CANARY],
    ['LOG_FORMAT', CANARY],
    ['UPLOAD_MAX_BYTES', '0'],
    ['UPLOAD_MAX_BYTES', '2e9'],
    ['RECORDING_MAX_SECONDS', '99999999'],
    ['PIPELINE_POLL_MS', '9'],
    ['PIPELINE_CLAIM_TTL_MS', '299'],
    ['PIPELINE_MAX_ATTEMPTS', '0'],
    ['PIPELINE_BACKOFF_MAX_MS', '4999'],
    ['RECOGNIZER', CANARY],
    ['RECOGNIZER_THREADS', '0'],
    ['SHUTDOWN_TIMEOUT_MS', '99'],
  ])('refuses a bad value with its name and rule, never with itself: %s=%s', (name, value) => {
    const detail = refusal({ [name]: value });
    expect(detail).toMatch(new RegExp(`^${name} must `));
    expect(detail).not.toContain(CANARY);
    expect(detail).not.toContain(value);
  });

  it('names all settings at fault at once', () => {
    const detail = refusal({ PORT: 'x', ROLES: 'x', LOG_LEVEL: 'x' });
    expect(detail.split('; ').map((fault) => fault.split(' ')[0])).toEqual([
      'PORT',
      'ROLES',
      'LOG_LEVEL',
    ]);
  });

  describe('Scenario: without keys only a loopback address is served', () => {
    it.each(['0.0.0.0', '::', '192.168.1.5', 'example.org', '127.0.0.1.example.org', '128.0.0.1'])(
      '%s is refused',
      (HOST) => {
        expect(refusal({ HOST })).toBe('API_KEYS is required when HOST is not a loopback address');
      },
    );

    it.each(['127.0.0.1', '127.8.9.10', 'localhost', '::1'])('%s is served', (HOST) => {
      expect(loadConfig({ HOST }, false).http.host).toBe(HOST);
    });

    it('with keys any address is', () => {
      const config = loadConfig({ HOST: '0.0.0.0', API_KEYS: 'phone:12345678' }, false);
      expect(config.http.host).toBe('0.0.0.0');
    });
  });
});
