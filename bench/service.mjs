import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'main.js');

export const workFolder = () => mkdtempSync(join(tmpdir(), 'steward-bench-'));

/** Runs `work` against a service of its own and stops it afterwards. */
export async function withService(environment, work) {
  const dataDir = workFolder();
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await new Promise((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (chunk) => {
        text = (text + chunk).slice(-10_000);
        const match = /listening on (http:\/\/[^\s"]+)/.exec(text);
        if (match) {
          resolve(match[1]);
        }
      });
      child.on('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
    });
    return await work({ url, pid: child.pid });
  } finally {
    const gone = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGTERM');
    await gone;
    rmSync(dataDir, { recursive: true, force: true });
  }
}
