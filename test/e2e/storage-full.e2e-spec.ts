import { ApiClient } from '../support/api-client';
import { StewardProcess } from '../support/steward-process';
import { filesBelow, removeTempDirs, tempDir } from '../support/temp-dir';

describe('a disk that is nearly full', () => {
  afterAll(removeTempDirs);

  it('Scenario: an upload is refused while there is too little space', async () => {
    const dataDir = await tempDir('data');
    const steward = await StewardProcess.start({
      DATA_DIR: dataDir,
      ROLES: 'api',
      STORAGE_MIN_FREE_BYTES: String(Number.MAX_SAFE_INTEGER),
    });
    const client = new ApiClient(steward.url);

    const response = await client.send(new Uint8Array([1, 2, 3]), 'a.wav');
    expect([response.status, response.headers.get('retry-after')]).toEqual([507, '300']);
    expect(await response.json()).toMatchObject({ code: 'storage_full' });
    expect(await client.json('/v1/recordings')).toMatchObject({ data: [] });
    expect((await filesBelow(dataDir)).filter((path) => /^(staging|blobs)/.test(path))).toEqual([]);

    const ready = await client.call('/health/ready');
    expect([ready.status, await ready.json()]).toEqual([
      503,
      expect.objectContaining({ error: { storage: { status: 'down', code: 'storage_full' } } }),
    ]);
    await steward.stop();
  });
});
