import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SystemClock } from '../../src/common/clock/system-clock';
import { FfmpegMediaConverter } from '../../src/modules/pipeline/media/ffmpeg.media-converter';
import { generated, tone } from '../support/make-audio';
import { referenceMovie, withExternalData } from '../support/referring-movies';
import { removeTempDirs, tempDir } from '../support/temp-dir';

const run = promisify(execFile);

const playlist = (uri: string): string =>
  `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${uri}\n#EXT-X-ENDLIST\n`;
const concat = (uri: string): string => `ffconcat version 1.0\nfile ${uri}\n`;
const dash = (uri: string): string =>
  '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period>' +
  '<AdaptationSet mimeType="audio/mp4"><Representation id="1">' +
  `<BaseURL>${uri}</BaseURL></Representation></AdaptationSet></Period></MPD>`;

/** FOLDER and ADDRESS stand for a folder with a recording that may not be read and a server. */
const SCRIPTS: Readonly<Record<string, string>> = {
  'an m3u8 of a file': playlist('file://FOLDER/secret.mp3'),
  'an m3u8 of a neighbour': playlist('secret.mp3'),
  'an m3u8 of an address': playlist('ADDRESS/a.mp3'),
  'an m3u8 of /etc/passwd': playlist('file:///etc/passwd'),
  'an m3u of an address': '#EXTM3U\nADDRESS/a.mp3\n',
  'an ffconcat of a neighbour': concat('secret.mp3'),
  'an ffconcat of a file': concat('FOLDER/secret.mp3'),
  'an ffconcat of an address': concat('ADDRESS/a.mp3'),
  'an ffconcat of a part': concat('subfile,,start,0,end,0,,:secret.mp3'),
  'a DASH manifest': dash('ADDRESS/a.mp4'),
  'an SDP':
    'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n',
  'an ASX': '<ASX version="3"><Entry><Ref href="ADDRESS/a.wma"/></Entry></ASX>',
  'an ASF reference': '[Reference]\nRef1=ADDRESS/a.asf\n',
};

describe('Scenario: a file that names other files opens none of them', () => {
  let folder: string;
  let server: Server;
  let address: string;
  let hits = 0;
  const never = new AbortController().signal;
  const converter = new FfmpegMediaConverter(
    { ffmpegPath: 'ffmpeg', ffprobePath: 'ffprobe' },
    new SystemClock(),
  );

  beforeAll(async () => {
    folder = await tempDir('references');
    server = createServer((_request, response) => {
      hits += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await generated(folder, 'secret.mp3', '-f', 'lavfi', '-i', 'sine=duration=4');
  });
  afterAll(async () => {
    server.close();
    await removeTempDirs();
  });

  const path = (name: string): string => join(folder, name);

  const convert = async (inputPath: string): Promise<unknown> => {
    const probe = await converter.probe(inputPath, never);
    const request = { inputPath, outputPath: path('out.wav'), probe, maxSeconds: 60 };
    return converter.convert(request, never, () => undefined);
  };

  /** Even a caller who has, or makes up, a probe gets nothing out. */
  const convertUnprobed = (inputPath: string): Promise<unknown> => {
    const probe = { durationSeconds: 4, channels: 1, startSeconds: 0, codec: 'mp3', format: 'mp3' };
    const request = { inputPath, outputPath: path('out.wav'), probe, maxSeconds: 60 };
    return converter.convert(request, never, () => undefined);
  };

  describe.each(Object.entries(SCRIPTS))('%s', (_kind, script) => {
    it.each(['script', 'script.mp3', 'script.m3u8', 'script.wav'])('named %s', async (name) => {
      const text = script.replace('FOLDER', folder).replace('ADDRESS', address);
      await writeFile(path(name), text);
      await expect(convert(path(name))).rejects.toMatchObject({ code: 'not_media' });
      await expect(convertUnprobed(path(name))).rejects.toMatchObject({ code: 'not_media' });
      expect(hits).toBe(0);
    });
  });

  it('would be opened by an ffmpeg that is not told otherwise', async () => {
    await writeFile(path('script.mp3'), concat('secret.mp3'));
    const { stdout } = await run('ffprobe', ['-v', 'error', '-show_streams', path('script.mp3')]);
    expect(stdout).toContain('codec_name=mp3');
  });

  it('a QuickTime track whose sound lies in another file', async () => {
    await generated(folder, 'other.mov', '-i', await tone(folder, 4), '-c:a', 'pcm_s16le');
    const forged = withExternalData(await readFile(path('other.mov')), path('other.mov'));
    await writeFile(path('forged.mov'), forged);
    // The forgery is a good one: ffmpeg follows it when it is allowed to.
    const { stdout } = await run(
      'ffmpeg',
      [
        ...['-v', 'error', '-enable_drefs', '1', '-i', path('forged.mov')],
        ...['-ac', '1', '-ar', '16000', '-f', 's16le', '-'],
      ],
      { encoding: 'buffer', maxBuffer: 1_000_000 },
    );
    expect(stdout.length / 32_000).toBeCloseTo(4, 1);
    await expect(convert(path('forged.mov'))).rejects.toMatchObject({ code: 'corrupt_media' });
  });

  it('a QuickTime movie that is nothing but a reference', async () => {
    await writeFile(path('reference.mov'), referenceMovie(`${address}/a.mov`));
    await expect(convert(path('reference.mov'))).rejects.toMatchObject({
      code: expect.stringMatching(/^(not|corrupt)_media$/),
    });
    expect(hits).toBe(0);
  });

  it('a name that reads like a protocol is a name', async () => {
    for (const name of [`${address}/a.mp3`, `concat:${path('secret.mp3')}`, '-version']) {
      await expect(converter.probe(name, never)).rejects.toMatchObject({
        code: 'storage_unavailable',
      });
    }
    expect(hits).toBe(0);
  });
});
