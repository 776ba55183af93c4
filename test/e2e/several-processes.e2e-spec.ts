import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FakeS3 } from '../fakes/fake-s3';
import { createPostgresDatabase, describeOnPostgres } from '../integration/postgres-database';
import { ApiClient } from '../support/api-client';
import { speech } from '../support/make-audio';
import { StewardProcess } from '../support/steward-process';
import { filesBelow, removeTempDirs, tempDir } from '../support/temp-dir';

const MIGRATE = join(__dirname, '..', '..', 'dist', 'migrate.js');

describe('two processes that share the work', () => {
  const started: StewardProcess[] = [];

  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.stop()));
  });
  afterAll(removeTempDirs);

  const start = async (environment: Record<string, string>): Promise<StewardProcess> => {
    const process = await StewardProcess.start(environment);
    started.push(process);
    return process;
  };

  it('Scenario: one takes recordings in and another transcribes them', async () => {
    const shared = { DATA_DIR: await tempDir('data') };
    const api = await start({ ...shared, ROLES: 'api' });
    const pipeline = await start({ ...shared, ROLES: 'pipeline' });
    const client = new ApiClient(api.url);
    const { id } = await client.accept(await speech(await tempDir('audio'), 'turn on the lights'));
    const events = client.call(`/v1/recordings/${id}/events`).then((response) => response.text());
    expect(await client.ended(id)).toMatchObject({ state: 'done' });
    expect(await events).toContain('event: done');
    const worker = new ApiClient(pipeline.url);
    expect((await worker.call('/health/ready')).status).toBe(200);
    expect((await worker.call('/v1/recordings')).status).toBe(404);
  });

  it('Scenario: a process that starts beside another takes nothing of its unfinished work', async () => {
    const shared = { DATA_DIR: await tempDir('data') };
    const api = await start({ ...shared, ROLES: 'api' });
    const { id } = await new ApiClient(api.url).accept(
      await speech(await tempDir('audio'), 'turn on the lights'),
    );
    const before = (await filesBelow(shared.DATA_DIR)).filter((path) => path.includes(id));
    await start({ ...shared, ROLES: 'api' });
    expect((await filesBelow(shared.DATA_DIR)).filter((path) => path.includes(id))).toEqual(before);
  });
});

describeOnPostgres('the service on PostgreSQL and S3', () => {
  afterAll(removeTempDirs);

  it('Scenario: a start on a schema that is not there is refused with the command to run', async () => {
    const database = await createPostgresDatabase();
    const steward = StewardProcess.spawn({
      DATA_DIR: await tempDir('data'),
      DATABASE_URL: database.config.url,
    });
    expect(await steward.exited).toBe(1);
    const failures = steward.records.filter(({ level }) => level === 'error');
    expect(failures).toEqual([expect.objectContaining({ code: 'schema_mismatch' })]);
    expect(String(failures[0]?.['detail'])).toContain('npm run migrate');
    expect(steward.output).not.toContain(database.config.url);
    await database.drop();
  });

  it('Scenario: machines share the work over PostgreSQL and a bucket', async () => {
    const [database, s3] = [await createPostgresDatabase(), await FakeS3.start()];
    const shared = {
      DATABASE_URL: database.config.url,
      STORAGE_URL: `s3://recordings?endpoint=${s3.endpoint}`,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret-canary-value',
    };
    await promisify(execFile)(process.execPath, [MIGRATE], {
      env: { PATH: process.env['PATH'], ...shared },
    });
    const machines = await Promise.all(
      ['api', 'pipeline', 'pipeline'].map(async (ROLES) =>
        StewardProcess.start({ ...shared, ROLES, DATA_DIR: await tempDir('machine') }),
      ),
    );
    const client = new ApiClient(machines[0]?.url ?? '');
    const file = await speech(await tempDir('audio'), 'turn on the lights');
    const ids = await Promise.all([1, 2, 3].map(async () => (await client.accept(file)).id));
    for (const id of ids) {
      expect(await client.ended(id)).toMatchObject({ state: 'done', attempts: 1 });
      expect(await client.json(`/v1/recordings/${id}/transcript`)).toMatchObject({
        text: expect.stringContaining('lights'),
      });
    }
    for (const machine of machines) {
      expect(await machine.stop()).toBe(0);
      expect(machine.output).not.toContain('secret-canary-value');
    }
    expect([...s3.objects.keys()].sort()).toEqual(
      ids.map((id) => `recordings/${id}/original`).sort(),
    );
    await s3.close();
    await database.drop();
  });
});
