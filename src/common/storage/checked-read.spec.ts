import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AppError } from '../errors/app-error';
import { checkedRead } from './checked-read';

describe('checkedRead', () => {
  const body = (): Readable => Readable.from([Buffer.from('abc'), Buffer.from('def')]);

  it('gives the bytes when they are as many as expected', async () => {
    expect((await buffer(checkedRead(body(), 6))).toString()).toBe('abcdef');
  });

  it.each([5, 7])('fails at the end of 6 bytes when %i were expected', async (expected) => {
    await expect(buffer(checkedRead(body(), expected))).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });

  it('gives a failure of the body before the first read its meaning, and keeps the cause', async () => {
    const cause = new Error('read failed');
    const failing = new Readable({ read: () => undefined });
    const read = checkedRead(failing, 6);
    const closed = new Promise((resolve) => failing.once('close', resolve));
    failing.destroy(cause);
    await closed;
    const failure = await buffer(read).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject({ code: 'storage_unavailable', cause });
  });

  it('closes the body when the reader leaves, before or after its first read', async () => {
    const unread = body();
    const first = checkedRead(unread, 6);
    const begun = body();
    const second = checkedRead(begun, 6);
    for await (const piece of second) {
      expect(String(piece)).toBe('abc');
      break;
    }
    const closed = new Promise((resolve) => first.once('close', resolve));
    first.destroy();
    await closed;
    expect([unread.destroyed, begun.destroyed]).toEqual([true, true]);
  });
});
