import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { median, ratio, verdict } from './figures.mjs';
import { withService, workFolder } from './service.mjs';

const SIZE = 1024 ** 3;
const CHUNK = Buffer.alloc(65_536, 'steward');
const RUNS = 3;
const MIB = 1024 ** 2;

/** A 1 GiB upload: what it adds to the peak memory, and its time against the plain work on the bytes. */
export async function upload() {
  const ratios = [];
  const growth = await withService({ ROLES: 'api' }, async ({ url, pid }) => {
    await send(url, 8 * MIB); // so that code and buffers that every upload needs are there
    const before = peakMemory(pid);
    for (let run = 0; run < RUNS; run += 1) {
      const plain = plainWrite();
      ratios.push((await send(url, SIZE)) / plain);
    }
    return (peakMemory(pid) - before) / MIB;
  });
  const time = median(ratios);
  return [
    [
      '1 GiB upload, growth of peak memory',
      `${growth.toFixed(1)} MiB`,
      '< 64 MiB',
      verdict(growth < 64),
    ],
    ['1 GiB upload against write + hash + fsync', ratio(time), '<= 2x', verdict(time <= 2)],
  ];
}

/** Milliseconds to write, hash and fsync the same bytes in plain Node. */
function plainWrite() {
  const folder = workFolder();
  const startedAt = performance.now();
  const file = openSync(join(folder, 'plain'), 'w');
  const hash = createHash('sha256');
  for (let written = 0; written < SIZE; written += CHUNK.length) {
    writeSync(file, CHUNK);
    hash.update(CHUNK);
  }
  fsyncSync(file);
  closeSync(file);
  hash.digest('hex');
  const took = performance.now() - startedAt;
  rmSync(folder, { recursive: true });
  return took;
}

function send(url, size) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const upload = request(
      `${url}/v1/recordings`,
      { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      (response) => {
        const took = performance.now() - startedAt;
        response.resume();
        response.on('end', () => {
          if (response.statusCode !== 202) {
            reject(new Error(`answered ${response.statusCode}`));
            return;
          }
          // Removed, as plainWrite does: a disk that must give new room each time is slower.
          fetch(`${url}${response.headers.location}`, { method: 'DELETE' }).then(
            () => resolve(took),
            reject,
          );
        });
      },
    );
    upload.on('error', reject);
    upload.write('--x\r\ncontent-disposition: form-data; name="file"; filename="big.wav"\r\n\r\n');
    let left = size;
    const pour = () => {
      while (left > 0) {
        left -= CHUNK.length;
        if (!upload.write(CHUNK)) {
          upload.once('drain', pour);
          return;
        }
      }
      upload.end('\r\n--x--\r\n');
    };
    pour();
  });
}

/** Peak resident memory of a process so far, bytes (Linux). */
function peakMemory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024;
}
