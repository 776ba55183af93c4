import { open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, removeFile, syncFolders } from './durable-files';
import { LeftoverJournal } from './leftover-journal.port';
import { isMissing, storageFailure, storing } from './storage-failure';

/** A note is an empty file of its own, on the process's own disk whatever the blob store is. */
export class FileLeftoverJournal extends LeftoverJournal {
  constructor(private readonly folder: string) {
    super();
  }

  note(id: string): Promise<void> {
    return storing(this.write(id));
  }

  clear(id: string): Promise<void> {
    return storing(removeFile(join(this.folder, id), this.folder));
  }

  async *noted(): AsyncGenerator<string> {
    try {
      for await (const entry of await opendir(this.folder)) {
        yield entry.name;
      }
    } catch (error) {
      if (!isMissing(error)) {
        throw storageFailure(error);
      }
    }
  }

  private async write(id: string): Promise<void> {
    await makeFolder(this.folder);
    const file = await open(join(this.folder, id), 'w', 0o600);
    await file.close();
    await syncFolders(this.folder, this.folder);
  }
}
