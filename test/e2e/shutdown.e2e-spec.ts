import { ApiClient } from '../support/api-client';
import { HeldPrograms } from '../support/held-programs';
import { speech } from '../support/make-audio';
import { StewardProcess } from '../support/steward-process';
import { removeTempDirs, tempDir } from '../support/temp-dir';

describe('SIGTERM', () => {
  afterAll(removeTempDirs);

  it('Scenario: an idle service ends with 0', async () => {
    const steward = await StewardProcess.start({ DATA_DIR: await tempDir('data') });
    expect(await steward.stop('SIGTERM')).toBe(0);
    expect(steward.records.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  it('Scenario: a step that ends within the bound is finished', async () => {
    const programs = new HeldPrograms(await tempDir('bin'), ['ffmpeg']);
    await programs.install();
    await programs.holdBack('ffmpeg');
    const dataDir = await tempDir('data');
    const steward = await StewardProcess.start({ DATA_DIR: dataDir, PATH: programs.path });
    const client = new ApiClient(steward.url);
    const { id } = await client.accept(await speech(await tempDir('audio'), 'good bye'));
    await programs.started('ffmpeg');
    const ended = steward.stop('SIGTERM');
    await steward.outputMatching(/"msg":"stopping"/);
    await programs.letGo('ffmpeg');
    expect(await ended).toBe(0);
    const again = await StewardProcess.start({ DATA_DIR: dataDir, ROLES: 'api' });
    expect(await new ApiClient(again.url).get(id)).toMatchObject({
      state: 'converted',
      attempts: 0,
    });
    await again.stop();
  });

  it('Scenario: a step that does not end within the bound is given back at no cost', async () => {
    const programs = new HeldPrograms(await tempDir('bin'), ['ffmpeg']);
    await programs.install();
    await programs.holdBack('ffmpeg');
    const dataDir = await tempDir('data');
    const steward = await StewardProcess.start({
      DATA_DIR: dataDir,
      PATH: programs.path,
      SHUTDOWN_TIMEOUT_MS: '300',
    });
    const { id } = await new ApiClient(steward.url).accept(
      await speech(await tempDir('audio'), 'good bye'),
    );
    await programs.started('ffmpeg');
    expect(await steward.stop('SIGTERM')).toBe(0);
    await programs.letGo('ffmpeg');
    const again = await StewardProcess.start({ DATA_DIR: dataDir, ROLES: 'api' });
    expect(await new ApiClient(again.url).get(id)).toMatchObject({
      state: 'created',
      attempts: 0,
      error: null,
    });
    await again.stop();
  });
});
