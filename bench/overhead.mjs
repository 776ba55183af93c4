import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, ms, percentile, ratio, verdict } from './figures.mjs';
import { withService, workFolder } from './service.mjs';

const RUNS = 30;
const POLLED_RUNS = 8;
const POLL_ONLY = join(dirname(fileURLToPath(import.meta.url)), 'poll-only.cjs');
const PROGRAMS = ['ffmpeg', 'ffprobe', 'pocketsphinx_batch'];

/**
 * What the service adds to a 5 s recording: from the 202 to `done`, less the time in which ffmpeg,
 * ffprobe or the engine were running. Stand-ins first in PATH note when each begins and ends; what they
 * cost themselves is measured in the same run and taken off.
 */
export async function overhead() {
  const folder = workFolder();
  const notes = join(folder, 'notes');
  mkdirSync(join(folder, 'bin'));
  const standIn = (program, real) => {
    const path = join(folder, 'bin', program);
    writeFileSync(
      path,
      `#!/bin/bash\nbegin=$EPOCHREALTIME\n${real} "$@"\ncode=$?\n` +
        `echo "$begin $EPOCHREALTIME" >> ${notes}\nexit $code\n`,
    );
    chmodSync(path, 0o755);
    return path;
  };
  for (const program of PROGRAMS) {
    standIn(program, execFileSync('which', [program]).toString().trim());
  }
  const noting = costOfNoting(standIn('true', '/bin/true'));
  const wav = join(folder, 'five-seconds.wav');
  execFileSync('flite', [
    '-voice',
    'slt',
    '-t',
    'one two three four five',
    '-o',
    join(folder, 'a.wav'),
  ]);
  execFileSync('ffmpeg', [
    '-v',
    'error',
    '-i',
    join(folder, 'a.wav'),
    '-af',
    'apad',
    '-t',
    '5',
    wav,
  ]);
  const bytes = readFileSync(wav);
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;

  const measure = async ({ url }, runs) => {
    const rest = [];
    for (let run = 0; run < runs + 2; run += 1) {
      writeFileSync(notes, '');
      const form = new FormData();
      form.append('file', new Blob([bytes]), 'five.wav');
      const accepted = await fetch(`${url}/v1/recordings`, { method: 'POST', body: form });
      const { id } = await accepted.json();
      const startedAt = Date.now() / 1000;
      const events = await fetch(`${url}/v1/recordings/${id}/events`);
      const text = await events.text();
      const total = Date.now() / 1000 - startedAt;
      if (!text.includes('"state":"done"')) {
        throw new Error('the recording did not end done');
      }
      if (run >= 2) {
        const { busy, runs: started } = programTime(readFileSync(notes, 'utf8'), startedAt);
        rest.push((total - busy) * 1000 - started * noting);
      }
    }
    return rest;
  };

  const woken = await withService({ PATH }, (service) => measure(service, RUNS));
  const polled = await withService({ PATH, NODE_OPTIONS: `--require ${POLL_ONLY}` }, (service) =>
    measure(service, POLLED_RUNS),
  );
  rmSync(folder, { recursive: true });
  const p50 = median(woken);
  const p95 = percentile(woken, 0.95);
  return [
    ['overhead of a 5 s recording, p50', ms(p50), '<= 60 ms', verdict(p50 <= 60)],
    ['overhead of a 5 s recording, p95', ms(p95), '<= 150 ms', verdict(p95 <= 150)],
    [
      'the same with the wake-up off (poll only), p50',
      `${ms(median(polled))}, ${ratio(median(polled) / p50)}`,
      '',
      '',
    ],
  ];
}

/** Milliseconds that a stand-in itself adds to the program it stands for. */
function costOfNoting(path) {
  const wall = (program) =>
    median(
      Array.from({ length: 40 }, () => {
        const startedAt = performance.now();
        execFileSync(program);
        return performance.now() - startedAt;
      }),
    );
  return Math.max(0, wall(path) - wall('/bin/true'));
}

/** How many programs ran, and the seconds after `from` in which at least one of them did. */
function programTime(notes, from) {
  const spans = notes
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .sort((a, b) => a[0] - b[0]);
  let busy = 0;
  let covered = from;
  for (const [begin, end] of spans) {
    busy += Math.max(0, end - Math.max(begin, covered));
    covered = Math.max(covered, end);
  }
  return { busy, runs: spans.length };
}
