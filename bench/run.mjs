import { report } from './figures.mjs';

/** `npm run bench [name …]`: every figure is a ratio or a difference within this one run. */
const PARTS = {
  claims: async () => (await import('./claims.mjs')).claims(),
  overhead: async () => (await import('./overhead.mjs')).overhead(),
  upload: async () => (await import('./upload.mjs')).upload(),
};

const wanted = process.argv.slice(2);
const rows = [
  ['figure', 'measured', 'goal', ''],
  ['---', '---', '---', '---'],
];
for (const [name, part] of Object.entries(PARTS)) {
  if (wanted.length === 0 || wanted.includes(name)) {
    rows.push(...(await part()));
  }
}
report(rows);
