import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FfmpegMediaConverter } from '../../src/modules/pipeline/media/ffmpeg.media-converter';
import type { MediaProbe } from '../../src/modules/pipeline/media/media-converter.port';
import { FakeClock } from '../fakes/fake-clock';
import { eventually } from '../support/eventually';
import { filesBelow, removeTempDirs, tempDir } from '../support/temp-dir';

const never = new AbortController().signal;

const PROBE: MediaProbe = {
  durationSeconds: 10,
  channels: 1,
  startSeconds: 0,
  codec: 'opus',
  format: 'ogg',
};

describe('Scenario: a converter that hangs is killed', () => {
  let folder: string;
  let clock: FakeClock;
  let converter: FfmpegMediaConverter;

  beforeEach(async () => {
    folder = await tempDir('hanging');
    clock = new FakeClock();
    const program = join(folder, 'program');
    // It says its process id and then nothing for ever; exec, so that this very process hangs.
    await writeFile(program, `#!/bin/sh\ntouch "${folder}/pid-$$"\nexec sleep 1000000\n`);
    await chmod(program, 0o755);
    converter = new FfmpegMediaConverter({ ffmpegPath: program, ffprobePath: program }, clock);
  });
  afterAll(removeTempDirs);

  const startedProcess = async (): Promise<number> => {
    let pid = 0;
    await eventually('the program runs', async () => {
      const mark = (await filesBelow(folder)).find((name) => name.startsWith('pid-'));
      pid = Number(mark?.slice('pid-'.length) ?? 0);
      return pid > 0;
    });
    return pid;
  };

  it.each<[string, number, () => Promise<unknown>]>([
    ['while it probes', 30_000, () => converter.probe(join(folder, 'a.ogg'), never)],
    [
      'while it converts',
      60_000,
      () =>
        converter.convert(
          {
            inputPath: join(folder, 'a.ogg'),
            outputPath: join(folder, 'a.wav'),
            probe: PROBE,
            maxSeconds: 60,
          },
          never,
          () => undefined,
        ),
    ],
  ])('%s, after %s ms', async (_when, boundMs, work) => {
    const failure = work().catch((error: unknown) => error);
    const pid = await startedProcess();
    await clock.advance(boundMs - 1);
    expect(process.kill(pid, 0)).toBe(true);
    await clock.advance(1);
    expect(await failure).toMatchObject({ code: 'conversion_timeout' });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(clock.pendingTimers).toBe(0);
  });
});
