import { createHash, randomBytes } from 'node:crypto';
import { access, readFile, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AppError } from '../../src/common/errors/app-error';
import type { BlobStore, StoredBlob } from '../../src/common/storage/blob-store.port';
import type { FakeClock } from '../fakes/fake-clock';

export interface BlobStoreHarness {
  readonly store: BlobStore;
  /** The store's clock; it starts at the real time, because the disk has its own. */
  readonly clock: FakeClock;
  /** Paths of the files in the staging place, and names of other traces of unfinished writes. */
  leftovers(): Promise<string[]>;
  /** Bytes in the staging place. */
  stagedBytes(): Promise<number>;
  close(): Promise<void>;
}

const MEGABYTE = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** One suite that every adapter of BlobStore passes. `open` gives a new, empty store each time. */
export function describeBlobStoreContract(
  name: string,
  open: () => Promise<BlobStoreHarness>,
): void {
  describe(`${name} as a BlobStore`, () => {
    let harness: BlobStoreHarness;
    let store: BlobStore;

    beforeEach(async () => {
      harness = await open();
      store = harness.store;
    });

    afterEach(() => harness.close());

    const put = async (key: string, bytes: Buffer): Promise<void> => {
      await (await store.stage(Readable.from([bytes]))).commit(key);
    };
    const get = async (key: string): Promise<Buffer> => buffer(await store.read(key));
    const listed = async (prefix: string): Promise<StoredBlob[]> => {
      const found: StoredBlob[] = [];
      for await (const blob of store.list(prefix)) {
        found.push(blob);
      }
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    };
    const keys = async (prefix: string): Promise<string[]> =>
      (await listed(prefix)).map(({ key }) => key);

    describe('stage and commit', () => {
      it('gives back the bytes, their size and their hash', async () => {
        const bytes = randomBytes(300_000);
        const staged = await store.stage(
          Readable.from([
            bytes.subarray(0, 7),
            bytes.subarray(7, 200_000),
            bytes.subarray(200_000),
          ]),
        );
        expect(staged.sizeBytes).toBe(300_000);
        expect(staged.sha256).toBe(sha256Of(bytes));

        await staged.commit('a/b/recording.wav');

        expect(await store.size('a/b/recording.wav')).toBe(300_000);
        expect((await get('a/b/recording.wav')).equals(bytes)).toBe(true);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('shows nothing under the key before the commit', async () => {
        await store.stage(Readable.from([Buffer.from('bytes')]));
        expect(await keys('')).toEqual([]);
      });

      it('keeps a blob of no bytes', async () => {
        const staged = await store.stage(Readable.from([]));
        expect(staged.sizeBytes).toBe(0);
        expect(staged.sha256).toBe(sha256Of(Buffer.alloc(0)));
        await staged.commit('empty');
        expect(await store.size('empty')).toBe(0);
        expect(await get('empty')).toHaveLength(0);
      });

      it('counts text as its UTF-8 bytes', async () => {
        const staged = await store.stage(Readable.from(['grün']));
        expect(staged.sizeBytes).toBe(5);
        expect(staged.sha256).toBe(sha256Of(Buffer.from('grün')));
      });

      it('replaces what was under the key, also by a shorter blob', async () => {
        await put('key', Buffer.from('the first bytes'));
        await put('key', Buffer.from('second'));
        expect((await get('key')).toString()).toBe('second');
        expect(await keys('')).toEqual(['key']);
      });

      it('takes 20 MB without holding more than a little of it', async () => {
        const piece = randomBytes(MEGABYTE / 4);
        const whole = createHash('sha256');
        let given = 0;
        let largestGap = 0;
        async function* recording(): AsyncGenerator<Buffer> {
          for (let count = 0; count < 80; count += 1) {
            largestGap = Math.max(largestGap, given - (await harness.stagedBytes()));
            given += piece.length;
            whole.update(piece);
            yield piece;
          }
        }
        const staged = await store.stage(Readable.from(recording(), { highWaterMark: 1 }));
        expect(staged.sizeBytes).toBe(20 * MEGABYTE);
        expect(staged.sha256).toBe(whole.digest('hex'));
        expect(largestGap).toBeLessThanOrEqual(2 * MEGABYTE);

        await staged.commit('large');

        expect(sha256Of(await get('large'))).toBe(staged.sha256);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('never mixes the bytes of writers that commit the same key at once', async () => {
        const versions = Array.from({ length: 8 }, (_, index) =>
          Buffer.alloc(100_000 + index * 1000, 65 + index),
        );
        const staged = await Promise.all(
          versions.map((each) => store.stage(Readable.from([each]))),
        );
        await Promise.all(staged.map((each) => each.commit('shared/key')));

        const stored = await get('shared/key');
        expect(versions.some((each) => each.equals(stored))).toBe(true);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('loses no commit to a delete of its neighbour in the same folder', async () => {
        for (let round = 0; round < 20; round += 1) {
          await put('folder/old', Buffer.from('old'));
          const staged = await store.stage(Readable.from([Buffer.from('new')]));
          await Promise.all([store.delete('folder/old'), staged.commit('folder/new')]);
          expect((await get('folder/new')).toString()).toBe('new');
          await store.delete('folder/new');
        }
      });
    });

    describe('what does not arrive', () => {
      it('leaves nothing after a discard, also a second one', async () => {
        const staged = await store.stage(Readable.from([Buffer.from('bytes')]));
        await staged.discard();
        await staged.discard();
        expect(await harness.leftovers()).toEqual([]);
        expect(await keys('')).toEqual([]);
      });

      it('keeps a committed blob through a discard', async () => {
        const staged = await store.stage(Readable.from([Buffer.from('bytes')]));
        await staged.commit('key');
        await staged.discard();
        expect((await get('key')).toString()).toBe('bytes');
      });

      it('rethrows the error of a failing source and leaves nothing', async () => {
        const failure = new AppError('payload_too_large');
        async function* failing(): AsyncGenerator<Buffer> {
          yield randomBytes(100_000);
          throw failure;
        }
        await expect(store.stage(Readable.from(failing()))).rejects.toBe(failure);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('rethrows the error of a source that fails before its first byte', async () => {
        const failure = new Error('the client went away');
        const source = new Readable({ read: () => undefined });
        const staging = store.stage(source);
        source.destroy(failure);
        await expect(staging).rejects.toBe(failure);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('refuses a source that was closed before its end', async () => {
        const source = new Readable({ read: () => undefined });
        source.push(Buffer.from('half a recor'));
        const staging = store.stage(source);
        source.destroy();
        await expect(staging).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
        expect(await harness.leftovers()).toEqual([]);
      });

      it('throws the reason of the signal, destroys the source and leaves nothing', async () => {
        const abort = new AbortController();
        const reason = new Error('the person gave up');
        async function* endless(): AsyncGenerator<Buffer> {
          for (let count = 0; ; count += 1) {
            if (count === 3) {
              abort.abort(reason);
            }
            yield randomBytes(10_000);
          }
        }
        const source = Readable.from(endless());
        await expect(store.stage(source, abort.signal)).rejects.toBe(reason);
        expect(source.destroyed).toBe(true);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('throws the reason of a signal that fires while the source says nothing', async () => {
        const abort = new AbortController();
        const reason = new Error('the service stops');
        let read = (): void => undefined;
        const reading = new Promise<void>((resolve) => (read = resolve));
        const source = new Readable({ read: () => read() });
        const staging = store.stage(source, abort.signal);
        await reading;
        abort.abort(reason);
        await expect(staging).rejects.toBe(reason);
        expect(source.destroyed).toBe(true);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('does not begin when the signal has fired before', async () => {
        const reason = new Error('too late');
        const source = Readable.from([Buffer.from('bytes')]);
        await expect(store.stage(source, AbortSignal.abort(reason))).rejects.toBe(reason);
        expect(source.destroyed).toBe(true);
        expect(await harness.leftovers()).toEqual([]);
      });
    });

    describe('read', () => {
      const bytes = randomBytes(200_000);

      it.each([
        [0, 0],
        [0, 99],
        [70_000, 140_001],
        [199_999, 199_999],
      ])('gives the bytes from %i to %i, both included', async (start, end) => {
        await put('key', bytes);
        const part = await buffer(await store.read('key', { start, end }));
        expect(part.equals(bytes.subarray(start, end + 1))).toBe(true);
      });

      it('gives only what lies before the end of the blob', async () => {
        await put('key', bytes);
        expect(await buffer(await store.read('key', { start: 199_990, end: 999_999 }))).toEqual(
          bytes.subarray(199_990),
        );
        expect(
          await buffer(await store.read('key', { start: 200_000, end: 200_010 })),
        ).toHaveLength(0);
      });

      it.each([
        { start: 2, end: 1 },
        { start: -1, end: 1 },
        { start: 0.5, end: 1 },
      ])('refuses the range %j', async (range) => {
        await put('key', bytes);
        await expect(store.read('key', range)).rejects.toMatchObject({ code: 'internal' });
      });

      it('gives the old bytes to whoever began before a replacement', async () => {
        await put('key', bytes);
        const stream = await store.read('key');
        await put('key', Buffer.from('new'));
        expect((await buffer(stream)).equals(bytes)).toBe(true);
      });

      it('lets a reader leave without a trace', async () => {
        await put('key', bytes);
        const stream = await store.read('key');
        const closed = new Promise((resolve) => stream.once('close', resolve));
        stream.destroy();
        await closed;
        expect((await get('key')).equals(bytes)).toBe(true);
      });
    });

    describe('what is not there', () => {
      it('has no size, no bytes and no local copy', async () => {
        expect(await store.size('a/missing')).toBeNull();
        await expect(store.read('a/missing')).rejects.toMatchObject({ code: 'audio_missing' });
        await expect(store.localCopy('a/missing')).rejects.toMatchObject({ code: 'audio_missing' });
        expect(await harness.leftovers()).toEqual([]);
      });

      it('can be deleted, once more too', async () => {
        await store.delete('missing');
        await put('a/b/key', Buffer.from('bytes'));
        await store.delete('a/b/key');
        await store.delete('a/b/key');
        expect(await store.size('a/b/key')).toBeNull();
        expect(await keys('')).toEqual([]);
      });

      it('takes the beginning of a key for no blob', async () => {
        await put('a/b/key', Buffer.from('bytes'));
        expect(await store.size('a/b')).toBeNull();
        await expect(store.read('a/b')).rejects.toMatchObject({ code: 'audio_missing' });
        await expect(store.localCopy('a/b')).rejects.toMatchObject({ code: 'audio_missing' });
        await store.delete('a/b');
        expect((await get('a/b/key')).toString()).toBe('bytes');
      });

      it('takes what would be below a blob for no blob', async () => {
        await put('key', Buffer.from('bytes'));
        expect(await store.size('key/below')).toBeNull();
        await expect(store.read('key/below')).rejects.toMatchObject({ code: 'audio_missing' });
        await store.delete('key/below');
      });
    });

    describe('list', () => {
      it('finds the blobs by the beginning of their keys, with size and time', async () => {
        const before = Math.floor(harness.clock.now() / 1000) * 1000;
        await put('audio/1/original', Buffer.alloc(3));
        await put('audio/2/original', Buffer.alloc(5));
        await put('audio-old/1', Buffer.alloc(7));
        await put('top', Buffer.alloc(11));

        expect(await keys('')).toEqual([
          'audio-old/1',
          'audio/1/original',
          'audio/2/original',
          'top',
        ]);
        expect(await keys('audio')).toEqual([
          'audio-old/1',
          'audio/1/original',
          'audio/2/original',
        ]);
        expect(await keys('audio/')).toEqual(['audio/1/original', 'audio/2/original']);
        expect(await keys('audio/2/orig')).toEqual(['audio/2/original']);
        expect(await keys('nothing/')).toEqual([]);
        const [blob] = await listed('top');
        expect(blob).toMatchObject({ key: 'top', sizeBytes: 11 });
        expect(Number.isSafeInteger(blob?.changedAt)).toBe(true);
        expect(blob?.changedAt).toBeGreaterThanOrEqual(before);
      });

      it('finds every one of many, and lets them be deleted on the way', async () => {
        const names = Array.from({ length: 70 }, (_, index) => `many/${index}/blob`);
        await Promise.all(names.map((name) => put(name, Buffer.from(name))));
        const found: string[] = [];
        for await (const { key } of store.list('many/')) {
          found.push(key);
          await store.delete(key);
        }
        expect(found.sort()).toEqual(names.sort());
        expect(await keys('')).toEqual([]);
      });

      it('can be left early', async () => {
        await put('a', Buffer.from('a'));
        await put('b', Buffer.from('b'));
        for await (const { key } of store.list('')) {
          expect(['a', 'b']).toContain(key);
          break;
        }
        expect(await keys('')).toEqual(['a', 'b']);
      });

      it('refuses a prefix that no key can have', async () => {
        await expect(keys('../')).rejects.toMatchObject({ code: 'internal' });
      });
    });

    it.each(['', '/etc', '../key', 'a/../../key', 'a//b', 'UPPER', 'a b', 'a\0', '.hidden'])(
      'refuses the key %j everywhere',
      async (key) => {
        const staged = await store.stage(Readable.from([Buffer.from('bytes')]));
        const refused = { code: 'internal' };
        await expect(staged.commit(key)).rejects.toMatchObject(refused);
        await expect(store.size(key)).rejects.toMatchObject(refused);
        await expect(store.read(key)).rejects.toMatchObject(refused);
        await expect(store.localCopy(key)).rejects.toMatchObject(refused);
        await expect(store.delete(key)).rejects.toMatchObject(refused);
        await staged.discard();
        expect(await keys('')).toEqual([]);
        expect(await harness.leftovers()).toEqual([]);
      },
    );

    describe('scratch file', () => {
      it('becomes a blob of what the program wrote', async () => {
        const scratch = await store.scratchFile('wav');
        expect(extname(scratch.path)).toBe('.wav');
        await expect(access(scratch.path)).rejects.toMatchObject({ code: 'ENOENT' });
        const bytes = randomBytes(2_500_000);
        await writeFile(scratch.path, bytes);

        const staged = await scratch.adopt();
        expect(staged).toMatchObject({ sizeBytes: 2_500_000, sha256: sha256Of(bytes) });
        await staged.commit('converted.wav');
        await scratch.discard();

        expect((await get('converted.wav')).equals(bytes)).toBe(true);
        expect(await harness.leftovers()).toEqual([]);
      });

      it('has another path each time', async () => {
        expect((await store.scratchFile('wav')).path).not.toBe(
          (await store.scratchFile('wav')).path,
        );
      });

      it('leaves nothing after a discard, written or not, adopted or not', async () => {
        const unwritten = await store.scratchFile('wav');
        const written = await store.scratchFile('wav');
        const adopted = await store.scratchFile('wav');
        await writeFile(written.path, 'bytes');
        await writeFile(adopted.path, 'bytes');
        await adopted.adopt();
        for (const scratch of [unwritten, written, adopted]) {
          await scratch.discard();
          await scratch.discard();
        }
        expect(await harness.leftovers()).toEqual([]);
      });

      it('cannot be adopted when the program wrote nothing', async () => {
        const scratch = await store.scratchFile('wav');
        await expect(scratch.adopt()).rejects.toMatchObject({ code: 'storage_unavailable' });
      });

      it('refuses an extension that would lead elsewhere', async () => {
        await expect(store.scratchFile('/../../wav')).rejects.toMatchObject({ code: 'internal' });
      });
    });

    describe('local copy', () => {
      it('is a file with the bytes until it is released', async () => {
        const bytes = randomBytes(150_000);
        await put('key', bytes);
        const copy = await store.localCopy('key');
        expect((await readFile(copy.path)).equals(bytes)).toBe(true);
        await copy.release();
        expect(await harness.leftovers()).toEqual([]);
        expect((await get('key')).equals(bytes)).toBe(true);
      });

      it('is not made when the signal has fired before', async () => {
        await put('key', Buffer.from('bytes'));
        const reason = new Error('too late');
        await expect(store.localCopy('key', AbortSignal.abort(reason))).rejects.toBe(reason);
        expect(await harness.leftovers()).toEqual([]);
      });
    });

    describe('sweepStaging', () => {
      it('removes every leftover when nobody else uses the store, and no blob', async () => {
        await put('key', Buffer.from('kept'));
        await store.stage(Readable.from([Buffer.from('left')]));
        await writeFile((await store.scratchFile('wav')).path, 'left');
        expect(await harness.leftovers()).toHaveLength(2);

        expect(await store.sweepStaging(true)).toBe(2);

        expect(await harness.leftovers()).toEqual([]);
        expect((await get('key')).toString()).toBe('kept');
        expect(await store.sweepStaging(true)).toBe(0);
      });

      it('otherwise leaves what was touched within a day', async () => {
        await store.stage(Readable.from([Buffer.from('young')]));
        await harness.clock.advance(DAY_MS - 3_600_000);
        expect(await store.sweepStaging(false)).toBe(0);
        await harness.clock.advance(2 * 3_600_000);
        expect(await store.sweepStaging(false)).toBe(1);
        expect(await harness.leftovers()).toEqual([]);
      });
    });

    it('passes its own check and leaves nothing of it', async () => {
      await expect(store.check()).resolves.toBeUndefined();
      expect(await harness.leftovers()).toEqual([]);
      expect(await keys('')).toEqual([]);
    });

    it('tells how much room there is', async () => {
      const free = await store.freeBytes();
      expect(free === null || (Number.isSafeInteger(free) && free > 0)).toBe(true);
    });
  });
}
