import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const SPECS = join(ROOT, 'openspec', 'specs');
const MARK = 'Scenario: ';

/** Texts of the files below `folder` of the repository whose names match. */
async function textsBelow(folder: string, name: RegExp): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.filter((path) => path !== __filename).map((path) => readFile(path, 'utf8')),
  );
}

async function scenarioTitles(): Promise<string[]> {
  const titles: string[] = [];
  for (const capability of await readdir(SPECS)) {
    const text = await readFile(join(SPECS, capability, 'spec.md'), 'utf8');
    titles.push(...[...text.matchAll(/^#### Scenario: (.+)$/gm)].map(([, title]) => title ?? ''));
  }
  return titles;
}

/** What stands behind `Scenario: ` in the tests, to the end of the line. */
async function namedInTests(): Promise<string[]> {
  const texts = [
    ...(await textsBelow('src', /\.spec\.ts$/)),
    ...(await textsBelow('test', /\.ts$/)),
  ];
  return texts.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line.includes(MARK))
      .map((line) => line.slice(line.indexOf(MARK) + MARK.length)),
  );
}

/** A test's title is the scenario's, perhaps with its case after a colon. */
const names = (test: string, title: string): boolean =>
  test.startsWith(title) && /^['"`:]/.test(test.slice(title.length));

describe('the behaviour specifications', () => {
  it('call no two scenarios the same', async () => {
    const titles = await scenarioTitles();
    expect(titles.length).toBeGreaterThan(0);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it('describe nothing that no test checks', async () => {
    const tests = await namedInTests();
    const unchecked = (await scenarioTitles()).filter(
      (title) => !tests.some((test) => names(test, title)),
    );
    expect(unchecked).toEqual([]);
  });

  it('have every scenario that a test names', async () => {
    const titles = await scenarioTitles();
    const unknown = (await namedInTests()).filter(
      (test) => !titles.some((title) => names(test, title)),
    );
    expect(unknown).toEqual([]);
  });
});
