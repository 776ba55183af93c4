import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.mjs';
import { StepFailure } from './steps.mjs';

const node = (script, options) =>
  run(process.execPath, ['-e', script], { quiet: true, ...options });

test('gives the output of a program that goes well', async () => {
  assert.deepEqual(await node('console.log(1)'), { code: 0, output: '1\n' });
});

test('a program that fails is a failure with what it said', async () => {
  await assert.rejects(node('console.error("why"); process.exit(3)'), (error) => {
    assert.ok(error instanceof StepFailure);
    assert.equal(error.output, 'why');
    return /exited 3$/.test(error.message);
  });
});

test('a program that may fail gives its exit code', async () => {
  assert.equal((await node('process.exit(3)', { mayFail: true })).code, 3);
});

test('a program that dies of a signal has failed, also when it may fail', async () => {
  const dies = node('process.kill(process.pid, "SIGKILL")', { mayFail: true });
  await assert.rejects(dies, /died of SIGKILL/);
});

test('a program that is not there is a failure', async () => {
  await assert.rejects(run('no-such-program', []), /ENOENT/);
});

test(
  'a program that lasts too long is ended, with what it started',
  { timeout: 20_000 },
  async () => {
    // The grandchild holds our pipe open: run() returns only once that is dead too.
    const args = "process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'inherit' }";
    const script = `require('child_process').spawn(${args}); setInterval(() => {}, 1e6)`;
    await assert.rejects(node(script, { timeoutMs: 1000 }), /took longer than 1 s/);
  },
);
