import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirPresence } from './data-dir-presence';
import { FileLock } from './file-lock';

describe('DataDirPresence', () => {
  let folder: string;
  const present: DataDirPresence[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-presence-'));
  });

  afterEach(async () => {
    await Promise.all(present.splice(0).map((each) => each.leave()));
    await rm(folder, { recursive: true });
  });

  async function enter(): Promise<DataDirPresence> {
    const presence = await DataDirPresence.enter(folder);
    present.push(presence);
    return presence;
  }

  /** A third lock on the same file answers after the second one's questions in the same thread pool. */
  async function enoughForTheSecondToAsk(): Promise<void> {
    const probe = await FileLock.open(join(folder, 'presence.lock'));
    expect(await probe.tryExclusive()).toBe(false);
    await probe.close();
  }

  it('is alone in a folder that nobody uses, until it admits others', async () => {
    const first = await enter();
    expect(first.alone).toBe(true);
    await first.admitOthers();
    expect(first.alone).toBe(false);
    await first.admitOthers();
    expect(first.alone).toBe(false);
  });

  it('is not alone while somebody else is there', async () => {
    const first = await enter();
    await first.admitOthers();
    const second = await enter();
    expect(second.alone).toBe(false);
    await second.admitOthers();
    const third = await enter();
    expect(third.alone).toBe(false);
  });

  it('does not come in while somebody is starting', async () => {
    const first = await enter();
    let entered = false;
    const second = enter().then((presence) => {
      entered = true;
      return presence;
    });
    await enoughForTheSecondToAsk();
    expect(entered).toBe(false);
    await first.admitOthers();
    expect((await second).alone).toBe(false);
  });

  it('is never alone twice at a time, however many start together', async () => {
    let alone = 0;
    let most = 0;
    const start = async (): Promise<void> => {
      const presence = await enter();
      if (presence.alone) {
        alone += 1;
        most = Math.max(most, alone);
        await new Promise((resolve) => setImmediate(resolve)); // it migrates and sweeps
        alone -= 1;
        await presence.admitOthers();
      }
    };
    await Promise.all([start(), start(), start()]); // each wait takes one of Node's four threads
    expect(most).toBe(1);
    expect(present).toHaveLength(3);
  });

  it('is alone again when everybody has left', async () => {
    const first = await DataDirPresence.enter(folder);
    await first.admitOthers();
    const second = await DataDirPresence.enter(folder);
    await first.leave();
    await second.leave();
    expect((await enter()).alone).toBe(true);
  });
});
