import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient } from '../support/api-client';
import { StewardProcess } from '../support/steward-process';
import { removeTempDirs, tempDir } from '../support/temp-dir';

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  responses: Record<string, { content?: Record<string, { examples?: Record<string, unknown> }> }>;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
}

/** Every route that exists, with the error codes it can answer. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  'post /v1/recordings': [
    'invalid_parameter',
    'missing_file',
    'empty_file',
    'idempotency_conflict',
    'payload_too_large',
    'unsupported_media_type',
    'storage_full',
    'shutting_down',
    'storage_unavailable',
    'unauthorized',
  ],
  'get /v1/recordings': ['invalid_parameter', 'unauthorized'],
  'get /v1/recordings/{id}': ['not_found', 'unauthorized'],
  'delete /v1/recordings/{id}': ['not_found', 'unauthorized'],
  'get /v1/recordings/{id}/transcript': [
    'not_found',
    'not_ready',
    'no_transcript',
    'invalid_parameter',
  ],
  'get /v1/recordings/{id}/audio': ['not_found', 'audio_expired'],
  'get /v1/recordings/{id}/events': ['not_found'],
  'post /v1/recordings/{id}/retry': ['not_found', 'not_retryable'],
  'post /v1/recordings/{id}/cancel': ['not_found', 'not_cancellable'],
  'get /health/live': [],
  'get /health/ready': [],
  'get /metrics': [],
};

describe('the documentation of the API', () => {
  let steward: StewardProcess;
  let document: Document;
  let client: ApiClient;

  beforeAll(async () => {
    steward = await StewardProcess.start({ DATA_DIR: await tempDir('data'), ROLES: 'api' });
    client = new ApiClient(steward.url);
    document = await client.json<Document>('/openapi.json');
  });
  afterAll(async () => {
    await steward.stop();
    await removeTempDirs();
  });

  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    const path = join(await tempDir('openapi'), 'openapi.json');
    await writeFile(path, JSON.stringify(document));
    const validator = join(__dirname, '..', '..', 'node_modules', '.bin', 'validate-api');
    const { stdout } = await promisify(execFile)(validator, [path]);
    expect(JSON.parse(stdout)).toEqual({ valid: true });
    expect(JSON.stringify(document)).not.toContain('"nullable"');
  });

  it('names every route, each with its errors by example', () => {
    const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, operation]) => [`${method} ${path}`, operation] as const,
      ),
    );
    expect(routes.map(([route]) => route).sort()).toEqual(Object.keys(ROUTES).sort());
    for (const [route, operation] of routes) {
      expect([route, operation.summary?.length, operation.tags?.length]).toEqual([
        route,
        expect.any(Number),
        1,
      ]);
      const documented = Object.values(operation.responses).flatMap((response) =>
        Object.keys(response.content?.['application/problem+json']?.examples ?? {}),
      );
      expect([route, documented]).toEqual([
        route,
        expect.arrayContaining([...(ROUTES[route] ?? [])]),
      ]);
    }
  });

  it('is shown by Swagger UI, to which the root leads', async () => {
    const root = await client.call('/', { redirect: 'manual' });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
    const page = await (await client.call('/docs')).text();
    expect(page).toContain('swagger-ui');
    expect(page).not.toMatch(/(src|href)="https?:/); // nothing is loaded from elsewhere
  });
});
