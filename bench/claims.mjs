import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { median, ratio, verdict } from './figures.mjs';
import { workFolder } from './service.mjs';

const require = createRequire(import.meta.url);
const { openDatabase } = require('../dist/common/database/open-database.js');
const { SystemClock } = require('../dist/common/clock/system-clock.js');
const { PollId } = require('../dist/common/errors/noop.js');
const { bindNamed } = require('../dist/common/database/named-parameters.js');
const { SqlJobRepository } = require('../dist/modules/pipeline/persistence/sql.job.repository.js');
const { jobStatements } = require('../dist/modules/pipeline/persistence/job.statements.js');

const JOBS = 1500;
const ROUNDS = 5;
const TTL_MS = 60_000;

/** Claim and finish of one step through the real repository, against the same statements on the bare driver. */
export async function claims() {
  const folder = workFolder();
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await throughRepository(join(folder, `ours-${round}.sqlite`));
    const bare = await onTheDriver(join(folder, `bare-${round}.sqlite`));
    ratios.push(ours / bare);
  }
  rmSync(folder, { recursive: true });
  const middle = median(ratios);
  return [
    [
      'claim + finish, repository against bare driver',
      ratio(middle),
      '>= 0.6x',
      verdict(middle >= 0.6),
    ],
  ];
}

async function fill(file) {
  const clock = new SystemClock();
  const database = await openDatabase({ type: 'sqlite', file });
  const repository = new SqlJobRepository(database, clock);
  for (let number = 0; number < JOBS; number += 1) {
    await repository.create({
      id: randomUUID(),
      source: 'http',
      sender: '',
      idempotencyKey: null,
      filename: 'a.wav',
      mediaType: 'audio/wav',
      sizeBytes: 1,
      sha256: 'x',
      requestedLanguage: null,
      prompt: null,
    });
  }
  return { database, repository };
}

const converted = { to: 'converted', speechKey: 'x', durationSeconds: 5, warnings: [] };

/** Steps per second. */
async function throughRepository(file) {
  const { database, repository } = await fill(file);
  const startedAt = performance.now();
  for (let number = 0; number < JOBS; number += 1) {
    const { job } = await repository.poll('created', new PollId('convert'), TTL_MS, 5);
    await repository.advance(job.claim, converted);
  }
  const rate = JOBS / (performance.now() - startedAt);
  await database.close();
  return rate;
}

async function onTheDriver(file) {
  const { database } = await fill(file);
  await database.close();
  const connection = new sqlite3.Database(file);
  const all = (sql, parameters) =>
    new Promise((resolve, reject) => {
      const { text, values } = bindNamed(sql, parameters, 'sqlite');
      connection.all(text, values, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  await all('PRAGMA journal_mode = WAL', {});
  await all('PRAGMA synchronous = FULL', {});
  const sql = jobStatements('sqlite');
  const startedAt = performance.now();
  for (let number = 0; number < JOBS; number += 1) {
    const now = Date.now();
    await all(sql.isAnyDue, { state: 'created', now });
    const [row] = await all(sql.claim, {
      state: 'created',
      token: randomUUID(),
      ttl: TTL_MS,
      maxAttempts: 5,
      now,
    });
    await all(sql.toConverted, {
      id: row.id,
      state: 'created',
      token: row.claim_token,
      speechKey: 'x',
      durationSeconds: 5,
      warnings: '[]',
      progress: 0.1,
      now,
    });
  }
  const rate = JOBS / (performance.now() - startedAt);
  await new Promise((resolve) => connection.close(resolve));
  return rate;
}
