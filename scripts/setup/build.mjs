import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, tool } from './paths.mjs';
import { run } from './run.mjs';
import { step } from './steps.mjs';

const MAIN = join(ROOT, 'dist', 'main.js');
const STAMP = join(ROOT, 'dist', '.steward-build');
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json'];

/** Compiles src into dist when dist was made of anything else. Needs the npm packages. */
export async function ensureBuild() {
  const wanted = await fingerprint();
  const present = await readFile(STAMP, 'utf8').catch(() => undefined);
  if (existsSync(MAIN) && present === wanted) {
    return;
  }
  await step('build', async () => {
    await run(tool('nest'), ['build'], { timeoutMs: 300_000 });
    await writeFile(STAMP, wanted); // last, and dist is emptied first: a failed build leaves none
  });
}

/** Names and bytes of all that a build depends on. */
async function fingerprint() {
  const entries = await readdir(join(ROOT, 'src'), { recursive: true, withFileTypes: true });
  const sources = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
  const files = [...sources.sort(), ...SETTINGS.map((name) => join(ROOT, name))];
  const hash = createHash('sha256');
  for (const file of files) {
    const bytes = await readFile(file);
    hash.update(`${file.slice(ROOT.length)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}
