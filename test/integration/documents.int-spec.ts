import { FakeLogFactory } from '../fakes/fake-log';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createApp } from '../../src/app.setup';
import { loadConfig } from '../../src/common/config/app-config';
import { ERRORS } from '../../src/common/errors/error-registry';
import { openApiDocument } from '../../src/openapi';
import { removeTempDirs, tempDir } from '../support/temp-dir';

const ROOT = join(__dirname, '..', '..');

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

async function documents(): Promise<string[]> {
  const inFolders = await Promise.all(
    ['docs', 'openspec'].map(async (folder) => {
      const entries = await readdir(join(ROOT, folder), { recursive: true });
      return entries.map((entry) => join(folder, entry));
    }),
  );
  return [...inFolders.flat().filter((path) => path.endsWith('.md')), 'README.md', 'CHANGELOG.md'];
}

/** The anchors that GitHub gives to the headings of a document. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('the documents', () => {
  afterAll(removeTempDirs);

  it('have no link that leads nowhere', async () => {
    const broken: string[] = [];
    for (const path of await documents()) {
      for (const [, link = ''] of (await read(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(link)) {
          continue;
        }
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : join(dirname(path), file);
        const exists = await stat(join(ROOT, target)).catch(() => null);
        const known =
          exists !== null &&
          (anchor === undefined || anchorsOf(await read(target)).includes(anchor));
        if (!known && path !== 'docs/adr/0000-template.md') {
          broken.push(`${path}: ${link}`);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  it('lead from every alert to its runbook', async () => {
    const rules = await read('deploy/prometheus/steward.rules.yml');
    const wanted = [...rules.matchAll(/runbook_url: docs\/operations\.md#(\S+)/g)].map(
      ([, anchor]) => anchor,
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect(anchorsOf(await read('docs/operations.md'))).toEqual(expect.arrayContaining(wanted));
  });

  it('explain every error code with its status, and whether it is worth another try', async () => {
    const rows = [
      ...(await read('docs/errors.md')).matchAll(/^\| `(\w+)` +\| (\d+) +\| (yes|no) +\|/gm),
    ].map(([, code, status, again]) => [code, Number(status), again === 'yes']);
    const registry = Object.entries(ERRORS).map(([code, { status, retryable }]) => [
      code,
      status,
      retryable,
    ]);
    const byCode = (a: unknown[], b: unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1);
    expect(rows.sort(byCode)).toEqual(registry.sort(byCode));
  });

  it('describe every address of the API, and none that is not there', async () => {
    const app = await createApp(
      loadConfig({ DATA_DIR: await tempDir('data'), ROLES: 'api' }),
      new FakeLogFactory(),
    );
    try {
      const offered = Object.entries(openApiDocument(app, '1.0.0').paths).flatMap(
        ([path, methods]) =>
          Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const described = [
        ...(await read('docs/http-api.md')).matchAll(/^### ([A-Z]+ \/\S+)$/gm),
      ].map(([, heading]) => heading);
      expect(described.sort()).toEqual([...new Set([...offered, 'GET /metrics'])].sort());
    } finally {
      await app.close();
    }
  });
});
