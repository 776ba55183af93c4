import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ApiClient, type Recording } from '../support/api-client';
import { eventually } from '../support/eventually';
import { silence, speech, tone } from '../support/make-audio';
import { StewardProcess } from '../support/steward-process';
import { filesBelow, removeTempDirs, tempDir } from '../support/temp-dir';

const MAX_BYTES = 2_000_000;

describe('handing in a recording over HTTP', () => {
  let steward: StewardProcess;
  let client: ApiClient;
  let dataDir: string;
  let audioDir: string;

  beforeAll(async () => {
    dataDir = await tempDir('data');
    audioDir = await tempDir('audio');
    steward = await StewardProcess.start({
      DATA_DIR: dataDir,
      UPLOAD_MAX_BYTES: String(MAX_BYTES),
      ROLES: 'api', // nothing touches the files meanwhile
    });
    client = new ApiClient(steward.url);
  });

  afterAll(async () => {
    await steward.stop();
    await removeTempDirs();
  });

  const storedFiles = async (): Promise<string[]> =>
    (await filesBelow(dataDir)).filter((path) => !/^(steward\.sqlite|presence\.lock)/.test(path));

  const staging = async (): Promise<boolean> =>
    (await storedFiles()).some((path) => path.startsWith('staging'));

  const all = async (): Promise<Recording[]> =>
    (await client.json<{ data: Recording[] }>('/v1/recordings?limit=200')).data;

  /** Nothing was accepted and nothing stays behind, whatever `act` did. */
  const changesNothing = async (act: () => Promise<void>): Promise<void> => {
    const before = [await storedFiles(), (await all()).length];
    await act();
    expect([await storedFiles(), (await all()).length]).toEqual(before);
  };

  const refused = async (response: Response, status: number, code: string): Promise<void> => {
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({
        code,
        status,
        type: `urn:steward:error:${code}`,
        title: expect.any(String),
        detail: expect.any(String),
        instance: '/v1/recordings',
      }),
    ]);
  };

  /** Sends a raw multipart body, so that it can be as wrong as the test likes. */
  const sendRaw = (body: string, boundary = 'x'): Promise<Response> =>
    client.call('/v1/recordings', {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body,
    });

  const part = (name: string, content: string, filename?: string): string =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${
      filename === undefined ? '' : `; filename="${filename}"`
    }\r\n\r\n${content}\r\n`;

  it('Scenario: a recording is accepted only when its bytes and its row are durable', async () => {
    const bytes = await readFile(await tone(audioDir, 1));
    const response = await client.send(bytes, 'note.wav', { fields: { language: 'en-US' } });
    const recording = (await response.json()) as Recording;
    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe(`/v1/recordings/${recording.id}`);
    expect(recording).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      state: 'created',
      source: 'http',
      filename: 'note.wav',
      media_type: 'application/octet-stream',
      size_bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      duration_s: null,
      language: 'en',
      progress: 0,
      attempts: 0,
      next_attempt_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      error: null,
      reply: 'none',
      engine: null,
      model: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      finished_at: null,
    });
    expect(await client.get(recording.id)).toEqual(recording);
    expect(await storedFiles()).toContain(join('blobs', 'recordings', recording.id, 'original'));
  });

  it('Scenario: a name is kept as a name and never used as a path', async () => {
    const name = `../../${'записка "важная" '.repeat(16)}\r\n/etc/../конец.wav`;
    expect([...name].length).toBeGreaterThan(280);
    const response = await client.send(new Uint8Array([1, 2, 3]), name);
    const recording = (await response.json()) as Recording;
    expect(response.status).toBe(202);
    expect(recording.filename).toBe(name);
    const audio = await client.call(`/v1/recordings/${recording.id}/audio`);
    expect(
      decodeURIComponent(
        /UTF-8''(\S+)/.exec(audio.headers.get('content-disposition') ?? '')?.[1] ?? '',
      ),
    ).toBe(name);
    expect((await storedFiles()).filter((path) => !path.startsWith('blobs/recordings/'))).toEqual(
      [],
    );
  });

  it('Scenario: a request without a file is refused', async () => {
    await changesNothing(async () => {
      await refused(await sendRaw(`${part('language', 'en')}--x--\r\n`), 400, 'missing_file');
      await refused(await sendRaw('--x--\r\n'), 400, 'missing_file');
    });
  });

  it('Scenario: a file without bytes is refused', async () => {
    await changesNothing(async () =>
      refused(await client.send(new Uint8Array(), 'empty.wav'), 400, 'empty_file'),
    );
  });

  it('Scenario: a file above the limit is refused, announced or not', async () => {
    await changesNothing(async () => {
      const big = new Uint8Array(MAX_BYTES + 1);
      await refused(await client.send(big, 'big.wav'), 413, 'payload_too_large');
      const announced = new Uint8Array(MAX_BYTES + 3_000_000);
      const response = await client.send(announced, 'huge.wav').catch(() => undefined);
      if (response !== undefined) {
        await refused(response, 413, 'payload_too_large');
      }
    });
    expect((await client.send(new Uint8Array(MAX_BYTES), 'fits.wav')).status).toBe(202);
  });

  it('Scenario: two files in one request are refused', async () => {
    await changesNothing(async () =>
      refused(
        await sendRaw(`${part('file', 'one', 'a.wav')}${part('file', 'two', 'b.wav')}--x--\r\n`),
        400,
        'invalid_parameter',
      ),
    );
  });

  it.each([
    ['an unknown part', part('colour', 'red')],
    ['a part given twice', part('language', 'en') + part('language', 'ru')],
    ['a language that is none', part('language', 'english please')],
    ['a prompt that is too long', part('prompt', 'p'.repeat(5000))],
    ['a callback that would never be made', part('callback_url', 'https://example.com/')],
    ['a prototype name', part('__proto__', 'x')],
    ['a file in another part', part('sound', 'bytes', 'a.wav')],
  ])('Scenario: a wrong parameter is refused: %s', async (_what, extra) => {
    await changesNothing(async () => {
      await refused(
        await sendRaw(`${part('file', 'a', 'a.wav')}${extra}--x--\r\n`),
        400,
        'invalid_parameter',
      );
      await refused(
        await sendRaw(`${extra}${part('file', 'a', 'a.wav')}--x--\r\n`),
        400,
        'invalid_parameter',
      );
    });
  });

  it('Scenario: a request that is not multipart is refused', async () => {
    await changesNothing(async () => {
      for (const type of ['application/json', 'audio/wav', 'text/plain']) {
        const response = await client.call('/v1/recordings', {
          method: 'POST',
          headers: { 'content-type': type },
          body: '{}',
        });
        await refused(response, 415, 'unsupported_media_type');
      }
    });
  });

  it('Scenario: a body that breaks off is never taken for a shorter recording', async () => {
    await changesNothing(async () => {
      for (const body of [
        part('file', 'bytes', 'a.wav').trimEnd(),
        part('file', 'bytes', 'a.wav'),
        `${part('file', 'bytes', 'a.wav')}--x`,
        `${part('file', 'bytes', 'a.wav')}--x\r\ncontent-disposition: form-data; na`,
        `${part('file', 'bytes', 'a.wav')}--y--\r\n`,
      ]) {
        await refused(await sendRaw(body), 400, 'invalid_parameter');
      }
    });
  });

  it('Scenario: an upload that its client breaks off leaves nothing behind', async () => {
    await changesNothing(async () => {
      const { hostname, port } = new URL(steward.url);
      const socket = connect(Number(port), hostname);
      socket.write(
        'POST /v1/recordings HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=x\r\n' +
          `content-length: 1000000\r\n\r\n${part('file', 'x'.repeat(200_000), 'a.wav').trimEnd()}`,
      );
      await eventually('the upload is under way', staging);
      socket.destroy();
      await eventually('its bytes are gone', async () => !(await staging()));
    });
  });

  it('Scenario: parts after the file count as well as parts before it', async () => {
    const response = await sendRaw(
      `${part('file', 'abc', 'a.wav')}${part('language', 'ru')}--x--\r\n`,
    );
    expect(await response.json()).toMatchObject({ language: 'ru', size_bytes: 3 });
  });

  describe('with an Idempotency-Key', () => {
    const headers = (key: string) => ({ 'idempotency-key': key });

    it('Scenario: the same key and bytes give the same recording', async () => {
      const bytes = new Uint8Array([1, 2, 3, 4]);
      const first = await client.send(bytes, 'a.wav', { headers: headers('key-1') });
      const files = await storedFiles();
      const second = await client.send(bytes, 'a.wav', { headers: headers('key-1') });
      expect([first.status, second.status]).toEqual([202, 200]);
      expect(await second.json()).toEqual(await first.json());
      expect(await storedFiles()).toEqual(files);
    });

    it('Scenario: the same key with other bytes is a conflict', async () => {
      await client.send(new Uint8Array([1]), 'a.wav', { headers: headers('key-2') });
      await changesNothing(async () =>
        refused(
          await client.send(new Uint8Array([2]), 'a.wav', { headers: headers('key-2') }),
          409,
          'idempotency_conflict',
        ),
      );
    });

    it('Scenario: racing requests with one key make one recording', async () => {
      const before = (await all()).length;
      const bytes = new Uint8Array(100_000).fill(5);
      const responses = await Promise.all(
        Array.from({ length: 8 }, () => client.send(bytes, 'a.wav', { headers: headers('key-3') })),
      );
      const bodies = (await Promise.all(
        responses.map((response) => response.json()),
      )) as Recording[];
      expect(responses.map(({ status }) => status).sort()).toEqual([
        200, 200, 200, 200, 200, 200, 200, 202,
      ]);
      expect(new Set(bodies.map(({ id }) => id)).size).toBe(1);
      expect((await all()).length).toBe(before + 1);
      expect((await storedFiles()).filter((path) => path.startsWith('staging'))).toEqual([]);
    });

    it('refuses a key that cannot be one', async () => {
      await changesNothing(async () =>
        refused(
          await client.send(new Uint8Array([1]), 'a.wav', { headers: headers('k'.repeat(256)) }),
          400,
          'invalid_parameter',
        ),
      );
    });
  });

  describe('reading what is stored', () => {
    it('Scenario: the original audio is served whole and in parts', async () => {
      const bytes = await readFile(await silence(audioDir, 1));
      const { id } = (await (await client.send(bytes, 'a.wav')).json()) as Recording;
      const path = `/v1/recordings/${id}/audio`;
      const whole = await client.call(path);
      expect([whole.status, whole.headers.get('accept-ranges')]).toEqual([200, 'bytes']);
      expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
      for (const [range, start, end] of [
        ['bytes=0-9', 0, 9],
        ['bytes=10-', 10, bytes.length - 1],
        ['bytes=-5', bytes.length - 5, bytes.length - 1],
        ['bytes=0-99999999', 0, bytes.length - 1],
      ] as const) {
        const response = await client.call(path, { headers: { range } });
        expect([response.status, response.headers.get('content-range')]).toEqual([
          206,
          `bytes ${start}-${end}/${bytes.length}`,
        ]);
        expect(
          Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(start, end + 1)),
        ).toBe(true);
      }
      const outside = await client.call(path, { headers: { range: 'bytes=99999999-' } });
      expect([outside.status, outside.headers.get('content-range')]).toEqual([
        416,
        `bytes */${bytes.length}`,
      ]);
    });

    it('Scenario: the list is paged, newest first, without repeats', async () => {
      const { id } = await client.accept(await speech(audioDir, 'hello'));
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: { data: Recording[]; meta: { next_cursor: string | null } } = await client.json(
          `/v1/recordings?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        seen.push(...page.data.map((recording) => recording.id));
        cursor = page.meta.next_cursor;
      } while (cursor !== null);
      expect(seen[0]).toBe(id);
      expect(seen).toEqual([...new Set(seen)].sort().reverse());
      expect(seen).toHaveLength((await all()).length);
      const { data } = await client.json<{ data: Recording[] }>(
        '/v1/recordings?state=done&source=http',
      );
      expect(data).toEqual([]);
    });

    it.each([
      'limit=0',
      'limit=201',
      'limit=abc',
      'limit=1.5',
      'limit=',
      'state=finished',
      'source=fax',
      'cursor=nonsense',
      'colour=red',
      'limit=1&limit=2',
    ])('Scenario: a wrong query is refused: %s', async (query) => {
      await refused(await client.call(`/v1/recordings?${query}`), 400, 'invalid_parameter');
    });

    it('Scenario: what is not there is answered with not_found, whatever its shape', async () => {
      for (const id of ['0193d4a2-6f3e-7c41-9d0a-5b1f2f3c4d5e', 'x', '%00', 'a%2Fb']) {
        for (const tail of ['', '/transcript', '/audio', '/events']) {
          const response = await client.call(`/v1/recordings/${id}${tail}`);
          expect([response.status, await response.json()]).toEqual([
            404,
            expect.objectContaining({ code: 'not_found' }),
          ]);
        }
        expect((await client.call(`/v1/recordings/${id}`, { method: 'DELETE' })).status).toBe(404);
        expect((await client.call(`/v1/recordings/${id}/retry`, { method: 'POST' })).status).toBe(
          404,
        );
      }
      expect((await client.call('/v1/nothing')).status).toBe(404);
    });

    it('takes an empty JSON body for none, and refuses one that says something', async () => {
      const { id } = (await (await client.send(new Uint8Array([1]), 'a.wav')).json()) as Recording;
      const retry = async (body: string | undefined): Promise<[number, unknown]> => {
        const response = await client.call(`/v1/recordings/${id}/retry`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body }),
        });
        return [response.status, ((await response.json()) as { code: string }).code];
      };
      expect(await retry(undefined)).toEqual([409, 'not_retryable']);
      expect(await retry('{}')).toEqual([409, 'not_retryable']);
      expect(await retry('{"force":true}')).toEqual([400, 'invalid_parameter']);
      expect(await retry('{broken')).toEqual([400, 'invalid_parameter']);
    });

    it('answers an address that is none with a problem document', async () => {
      const { hostname, port } = new URL(steward.url);
      const answer = await new Promise<string>((resolve) => {
        const socket = connect(Number(port), hostname, () =>
          socket.write('GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
        );
        let text = '';
        socket.on('data', (chunk) => (text += chunk.toString()));
        socket.on('close', () => resolve(text));
      });
      expect(answer).toContain('400 Bad Request');
      expect(answer).toContain('application/problem+json');
      expect(answer).toContain('"code":"invalid_parameter"');
    });

    it('Scenario: a transcript that is not there yet says so', async () => {
      const { id } = (await (await client.send(new Uint8Array([1]), 'a.wav')).json()) as Recording;
      const response = await client.call(`/v1/recordings/${id}/transcript`);
      expect([response.status, await response.json()]).toEqual([
        409,
        expect.objectContaining({ code: 'not_ready', detail: 'The recording is in state created' }),
      ]);
    });

    it('Scenario: cancel, retry and delete follow the state machine', async () => {
      const { id } = (await (await client.send(new Uint8Array([1]), 'a.wav')).json()) as Recording;
      const post = async (action: string): Promise<[number, string]> => {
        const response = await client.call(`/v1/recordings/${id}/${action}`, { method: 'POST' });
        const body = (await response.json()) as { code?: string; state?: string };
        return [response.status, body.code ?? body.state ?? ''];
      };
      expect(await post('retry')).toEqual([409, 'not_retryable']);
      expect(await post('cancel')).toEqual([202, 'cancelled']);
      expect(await post('cancel')).toEqual([409, 'not_cancellable']);
      const transcript = await client.call(`/v1/recordings/${id}/transcript`);
      expect([transcript.status, await transcript.json()]).toEqual([
        409,
        expect.objectContaining({ code: 'no_transcript' }),
      ]);
      expect(await post('retry')).toEqual([202, 'created']);
      expect((await client.call(`/v1/recordings/${id}`, { method: 'DELETE' })).status).toBe(204);
      expect((await client.call(`/v1/recordings/${id}`)).status).toBe(404);
      expect((await storedFiles()).filter((path) => path.includes(id))).toEqual([]);
    });
  });
});
