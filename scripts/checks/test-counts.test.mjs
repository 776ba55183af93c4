import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsOf, countsOfTap } from './test-counts.mjs';

const suite = (status, ...statuses) => ({
  status,
  assertionResults: statuses.map((each) => ({ status: each })),
});

test('counts each test by its status', () => {
  const testResults = [
    suite('passed', 'passed', 'passed', 'pending'),
    suite('failed', 'passed', 'failed', 'todo'),
  ];
  assert.deepEqual(countsOf({ testResults }), { passed: 3, failed: 1, skipped: 2 });
});

test('counts a suite that fails without a failed test as one failure', () => {
  const testResults = [suite('failed'), suite('failed', 'passed'), suite('failed', 'failed')];
  assert.deepEqual(countsOf({ testResults }), { passed: 1, failed: 3, skipped: 0 });
});

test('reads the closing counts of TAP output', () => {
  const tap = 'ok 1 - a\n1..1\n# pass 4\n# fail 1\n# cancelled 1\n# skipped 2\n# todo 1\n';
  assert.deepEqual(countsOfTap(tap), { passed: 4, failed: 2, skipped: 3 });
});

test('knows output that broke off before its closing counts', () => {
  assert.equal(countsOfTap('ok 1 - a\n'), undefined);
});
