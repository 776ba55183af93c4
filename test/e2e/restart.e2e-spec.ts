import { existsSync, readFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ApiClient } from '../support/api-client';
import { eventually } from '../support/eventually';
import { HeldPrograms } from '../support/held-programs';
import { speech } from '../support/make-audio';
import { StewardProcess } from '../support/steward-process';
import { filesBelow, removeTempDirs, tempDir } from '../support/temp-dir';

const SETTINGS = { PIPELINE_CLAIM_TTL_MS: '600', PIPELINE_POLL_MS: '100' };

/** What a finished recording leaves in DATA_DIR, and nothing else. */
const expectedFiles = (ids: readonly string[]): string[] =>
  ids.map((id) => join('blobs', 'recordings', id, 'original')).sort();

const recordingFiles = async (dataDir: string): Promise<string[]> =>
  (await filesBelow(dataDir)).filter((path) => !/^(steward\.sqlite|presence\.lock)/.test(path));

describe('kill -9 and a restart', () => {
  let running: StewardProcess | undefined;

  afterEach(async () => {
    await running?.crash();
    running = undefined;
  });
  afterAll(removeTempDirs);

  it.each([
    ['conversion', 'ffmpeg'],
    ['recognition', 'pocketsphinx_batch'],
  ])(
    'Scenario: a crash during a step ends with the recording done once and no file left over: %s',
    async (_step, program) => {
      const dataDir = await tempDir('data');
      const programs = new HeldPrograms(await tempDir('bin'), ['ffmpeg', 'pocketsphinx_batch']);
      await programs.install();
      await programs.holdBack(program);
      const environment = { DATA_DIR: dataDir, PATH: programs.path, ...SETTINGS };

      running = await StewardProcess.start(environment);
      const file = await speech(await tempDir('audio'), 'turn on the lights in the kitchen');
      const { id } = await new ApiClient(running.url).accept(file);
      await programs.started(program);
      await running.crash();
      await programs.letGo(program);

      running = await StewardProcess.start(environment);
      const client = new ApiClient(running.url);
      const recording = await client.ended(id);
      expect(recording).toMatchObject({ state: 'done', error: null });
      const transcript = await client.json(`/v1/recordings/${id}/transcript`);
      expect(transcript['text']).toContain('lights');
      expect(await client.json('/v1/recordings')).toMatchObject({ data: [{ id }] });
      await running.stop();
      running = undefined;
      expect(await recordingFiles(dataDir)).toEqual(expectedFiles([id]));
    },
  );

  it('Scenario: no converter or engine works on for a service that was killed', async () => {
    const folder = await tempDir('bin');
    const mark = join(folder, 'pid');
    await writeFile(join(folder, 'ffprobe'), `#!/bin/sh\necho $$ > ${mark}\nexec sleep 1000\n`);
    await chmod(join(folder, 'ffprobe'), 0o755);
    running = await StewardProcess.start({
      DATA_DIR: await tempDir('data'),
      FFPROBE_PATH: join(folder, 'ffprobe'),
    });
    await new ApiClient(running.url).accept(await speech(await tempDir('audio'), 'hello'));
    await eventually('the child runs', () => existsSync(mark));
    const pid = Number(await readFile(mark, 'utf8'));
    await running.crash();
    await eventually(
      'the child is gone',
      () =>
        !existsSync(`/proc/${pid}/cmdline`) || readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '',
    );
  });

  it('Scenario: a crash right after the acceptance loses nothing', async () => {
    const dataDir = await tempDir('data');
    const environment = { DATA_DIR: dataDir, ...SETTINGS };
    const file = await speech(await tempDir('audio'), 'turn on the lights');
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      running = await StewardProcess.start(environment);
      const client = new ApiClient(running.url);
      ids.push((await client.accept(file)).id, (await client.accept(file)).id);
      await running.crash();
    }
    running = await StewardProcess.start(environment);
    const client = new ApiClient(running.url);
    for (const id of ids) {
      expect(await client.ended(id)).toMatchObject({ state: 'done' });
    }
    await running.stop();
    running = undefined;
    expect(await recordingFiles(dataDir)).toEqual(expectedFiles(ids));
  });

  it('Scenario: bytes whose row was never committed are removed at the next start', async () => {
    const dataDir = await tempDir('data');
    running = await StewardProcess.start({ DATA_DIR: dataDir, ...SETTINGS });
    const { hostname, port } = new URL(running.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined); // the crash resets it
    socket.write(
      'POST /v1/recordings HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n' +
        'content-type: multipart/form-data; boundary=x\r\n\r\n--x\r\n' +
        'content-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
    );
    socket.write(Buffer.alloc(300_000, 7));
    await anyFile(join(dataDir, 'staging'));
    await running.crash();
    socket.destroy();
    running = await StewardProcess.start({ DATA_DIR: dataDir, ...SETTINGS });
    expect(await recordingFiles(dataDir)).toEqual([]);
  });
});

const anyFile = (folder: string): Promise<void> =>
  eventually('a file is being written', async () => (await filesBelow(folder)).length > 0);
