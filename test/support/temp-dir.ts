import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Makes a folder of the test's own; removed by {@link removeTempDirs}. */
const made: string[] = [];

export async function tempDir(purpose: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `steward-${purpose}-`));
  made.push(path);
  return path;
}

export async function removeTempDirs(): Promise<void> {
  await Promise.all(made.splice(0).map((path) => rm(path, { recursive: true, force: true })));
}

/** Every file below `root`, as sorted paths relative to it; none while it is not there. */
export async function filesBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
