import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileLeftoverJournal } from './file.leftover-journal';

describe('FileLeftoverJournal', () => {
  let folder: string;
  let journal: FileLeftoverJournal;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'journal-'));
    journal = new FileLeftoverJournal(join(folder, 'journal'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const noted = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const id of journal.noted()) {
      ids.push(id);
    }
    return ids.sort();
  };

  it('knows nothing before the first note', async () => {
    expect(await noted()).toEqual([]);
    await journal.clear('a');
  });

  it('keeps notes until they are cleared, also for another instance', async () => {
    await journal.note('a');
    await journal.note('b');
    await journal.note('a');
    journal = new FileLeftoverJournal(join(folder, 'journal'));
    expect(await noted()).toEqual(['a', 'b']);
    await journal.clear('a');
    await journal.clear('a');
    expect(await noted()).toEqual(['b']);
  });

  it('says that it cannot note', async () => {
    await writeFile(join(folder, 'journal'), 'a file in the way');
    await chmod(folder, 0o700);
    await expect(journal.note('a')).rejects.toMatchObject({ code: 'storage_unavailable' });
  });
});
