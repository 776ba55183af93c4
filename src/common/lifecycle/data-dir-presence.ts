import { join } from 'node:path';
import { FileLock } from './file-lock';

/**
 * Tells whether this process is alone on its DATA_DIR. While a process starts it tries to hold the
 * folder alone: then whatever lies unfinished there belongs to nobody and may be swept. Afterwards it
 * shares the folder for as long as it lives.
 */
export class DataDirPresence {
  private constructor(
    private readonly lock: FileLock,
    private exclusive: boolean,
  ) {}

  static async enter(dataDir: string): Promise<DataDirPresence> {
    const lock = await FileLock.open(join(dataDir, 'presence.lock'));
    const alone = await lock.tryExclusive();
    if (!alone) {
      await lock.share();
    }
    return new DataDirPresence(lock, alone);
  }

  /** True from the start until `admitOthers` is called, when no other process uses the folder. */
  get alone(): boolean {
    return this.exclusive;
  }

  /** Start-up is over: others may come in. */
  async admitOthers(): Promise<void> {
    if (this.exclusive) {
      this.exclusive = false;
      await this.lock.release();
      await this.lock.share();
    }
  }

  async leave(): Promise<void> {
    await this.lock.close();
  }
}
