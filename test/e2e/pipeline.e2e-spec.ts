import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient, type Recording } from '../support/api-client';
import { HeldPrograms } from '../support/held-programs';
import { generated, silence, speech } from '../support/make-audio';
import { StewardProcess } from '../support/steward-process';
import { filesBelow, removeTempDirs, tempDir } from '../support/temp-dir';

const CANARY = 'kitchen'; // a word that is said, and must not be logged

describe('from a recording to its transcript', () => {
  let steward: StewardProcess;
  let client: ApiClient;
  let audio: string;
  let dataDir: string;
  let programs: HeldPrograms;

  beforeAll(async () => {
    dataDir = await tempDir('data');
    audio = await tempDir('audio');
    programs = new HeldPrograms(await tempDir('bin'), ['ffmpeg', 'pocketsphinx_batch']);
    await programs.install();
    steward = await StewardProcess.start({
      DATA_DIR: dataDir,
      PATH: programs.path,
      LOG_LEVEL: 'debug',
    });
    client = new ApiClient(steward.url);
  });

  afterAll(async () => {
    await steward.stop();
    await removeTempDirs();
  });

  const transcribed = async (path: string): Promise<Recording> =>
    client.ended((await client.accept(path)).id);

  it('Scenario: speech is handed in and its text comes back in every format', async () => {
    const { id, ...recording } = await transcribed(
      await speech(audio, 'turn on the lights in the kitchen'),
    );
    expect(recording).toMatchObject({
      state: 'done',
      progress: 1,
      engine: 'pocketsphinx',
      language: 'en',
      error: null,
      next_attempt_at: null,
    });
    const path = `/v1/recordings/${id}/transcript`;
    const transcript = await client.json(path);
    expect(transcript).toMatchObject({
      recording_id: id,
      text: 'turn on the lights in the kitchen',
      language: 'en',
      engine: 'pocketsphinx',
      warnings: [expect.objectContaining({ code: 'low_quality_engine' })],
    });
    const text = await client.call(`${path}?format=text`);
    expect([text.headers.get('content-type'), await text.text()]).toEqual([
      'text/plain; charset=utf-8',
      'turn on the lights in the kitchen\n',
    ]);
    for (const [accept, type, start] of [
      ['text/vtt', 'text/vtt; charset=utf-8', 'WEBVTT\n\n00:00:0'],
      ['application/x-subrip', 'application/x-subrip; charset=utf-8', '1\n00:00:0'],
      ['text/plain', 'text/plain; charset=utf-8', 'turn'],
      ['*/*', 'application/json; charset=utf-8', '{'],
      ['image/png', 'application/json; charset=utf-8', '{'],
    ] as const) {
      const response = await client.call(path, { headers: { accept } });
      expect([accept, response.headers.get('content-type')]).toEqual([accept, type]);
      expect((await response.text()).startsWith(start)).toBe(true);
    }
    expect((await client.call(`${path}?format=doc`)).status).toBe(400);
  });

  it('Scenario: media that breaks off is transcribed as far as it goes, with a warning', async () => {
    const whole = await readFile(await silence(audio, 4, 'whole.wav'));
    const { id, state } = await transcribed(await file('cut.wav', whole.subarray(0, 64_000)));
    expect(state).toBe('done');
    expect(await client.json(`/v1/recordings/${id}/transcript`)).toMatchObject({
      duration_s: expect.closeTo(2, 1),
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'truncated_media' })]),
    });
  });

  it('Scenario: silence is done with an empty text', async () => {
    const { id, state } = await transcribed(await silence(audio, 2));
    expect(state).toBe('done');
    expect(await client.json(`/v1/recordings/${id}/transcript`)).toMatchObject({
      text: '',
      segments: [],
    });
    expect(await (await client.call(`/v1/recordings/${id}/transcript?format=vtt`)).text()).toBe(
      'WEBVTT\n',
    );
  });

  it.each([
    ['a text', 'not_media', async () => file('letter.mp3', 'Dear reader, this is no sound.')],
    [
      'random bytes',
      'not_media',
      async () =>
        file('noise.ogg', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251))),
    ],
    [
      'a picture',
      'not_media',
      () =>
        generated(audio, 'picture.png', '-f', 'lavfi', '-i', 'color=red:s=16x16', '-frames:v', '1'),
    ],
    [
      'a film without sound',
      'no_audio_stream',
      () => generated(audio, 'silent.mp4', '-f', 'lavfi', '-i', 'color=red:s=16x16:d=1'),
    ],
    [
      'a playlist that names a file',
      'not_media',
      async () => file('list.mp3', '#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n'),
    ],
  ] as const)(
    'Scenario: what cannot be transcribed is accepted and ends failed: %s, %s',
    async (_what, code, make) => {
      const recording = await transcribed(await make());
      expect(recording).toMatchObject({ state: 'failed', error: { code } });
      const response = await client.call(`/v1/recordings/${recording.id}/transcript`);
      expect([response.status, await response.json()]).toEqual([
        409,
        expect.objectContaining({ code: 'no_transcript' }),
      ]);
      const records = steward.records.filter(
        ({ job_id, level }) => job_id === recording.id && (level === 'warn' || level === 'error'),
      );
      expect(records).toHaveLength(1);
      expect(records[0]).toMatchObject({ code, worker: 'convert', state: 'failed' });
    },
  );

  const file = async (name: string, content: string | Buffer): Promise<string> => {
    const path = join(audio, name);
    await writeFile(path, content);
    return path;
  };

  it('Scenario: the events of a recording begin with its state and end with done', async () => {
    const { id } = await client.accept(await speech(audio, 'turn on the lights'));
    const stream = await (await client.call(`/v1/recordings/${id}/events`)).text();
    const events = [...stream.matchAll(/id: (\d+)\nevent: (\w+)\ndata: (.+)\n\n/g)].map(
      ([, number, event, data]) => ({ id: Number(number), event, data: JSON.parse(data ?? '') }),
    );
    expect(events[0]?.event).toBe('state');
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { id, state: 'done' } });
    expect(events.map((event) => event.id)).toEqual(
      [...new Set(events.map((event) => event.id))].sort((a, b) => a - b),
    );
    const last = String(events.at(-1)?.id);
    const resumed = await (
      await client.call(`/v1/recordings/${id}/events`, { headers: { 'last-event-id': last } })
    ).text();
    expect(resumed).toMatch(/event: done/);
    expect(Number(/id: (\d+)/.exec(resumed)?.[1])).toBeGreaterThan(Number(last));
  });

  it('Scenario: health is answered while the engine works', async () => {
    await programs.holdBack('pocketsphinx_batch');
    const { id } = await client.accept(await speech(audio, 'how are you'));
    await client.until(id, ({ state, attempts }) => state === 'transcribe' && attempts === 1);
    expect((await client.call('/health/live')).status).toBe(200);
    expect((await client.get(id)).state).toBe('transcribe');
    await programs.letGo('pocketsphinx_batch');
    expect((await client.ended(id)).state).toBe('done');
  });

  it('Scenario: cancel stops the step under way and its child', async () => {
    await programs.holdBack('ffmpeg');
    const { id } = await client.accept(await speech(audio, 'stop me'));
    await programs.started('ffmpeg');
    await client.call(`/v1/recordings/${id}/cancel`, { method: 'POST' });
    await steward.outputMatching(new RegExp(`"job_id":"${id}"[^\n]*called off`));
    await programs.letGo('ffmpeg');
    expect(await client.get(id)).toMatchObject({ state: 'cancelled' });
    expect((await filesBelow(dataDir)).filter((path) => path.includes(id))).toHaveLength(1);
  });

  it('Scenario: delete while a step runs leaves nothing and nothing comes back', async () => {
    await programs.holdBack('ffmpeg');
    const { id } = await client.accept(await speech(audio, 'delete me'));
    await client.until(id, ({ attempts }) => attempts === 1);
    expect((await client.call(`/v1/recordings/${id}`, { method: 'DELETE' })).status).toBe(204);
    await steward.outputMatching(new RegExp(`"job_id":"${id}"[^\n]*called off`));
    await programs.letGo('ffmpeg');
    expect((await client.call(`/v1/recordings/${id}`)).status).toBe(404);
    expect((await filesBelow(dataDir)).filter((path) => path.includes(id))).toEqual([]);
  });

  it('Scenario: neither words that were said nor file names are in the log', () => {
    expect(steward.output).not.toContain(CANARY);
    expect(steward.output).not.toContain('speech.wav');
    expect(steward.output).not.toContain('letter.mp3');
  });
});
