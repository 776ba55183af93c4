/**
 * The counts of jest's JSON report. A suite that failed without a failed test (it does not compile, its
 * clean-up threw) counts as one failure: else a broken file would look like an empty one.
 */
export function countsOf(report) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const suite of report.testResults) {
    const statuses = suite.assertionResults.map(({ status }) => status);
    const failed = statuses.filter((status) => status === 'failed').length;
    const passed = statuses.filter((status) => status === 'passed').length;
    counts.passed += passed;
    counts.failed += failed === 0 && suite.status === 'failed' ? 1 : failed;
    counts.skipped += statuses.length - passed - failed;
  }
  return counts;
}

/** The counts at the end of node's test runner's TAP output; undefined when it did not get that far. */
export function countsOfTap(output) {
  const number = (name) => new RegExp(`^# ${name} (\\d+)$`, 'm').exec(output)?.[1];
  const [passed, failed, cancelled] = ['pass', 'fail', 'cancelled'].map(number);
  if (passed === undefined || failed === undefined) {
    return undefined;
  }
  return {
    passed: Number(passed),
    failed: Number(failed) + Number(cancelled ?? 0),
    skipped: Number(number('skipped') ?? 0) + Number(number('todo') ?? 0),
  };
}

export const sum = (left, right) => ({
  passed: left.passed + right.passed,
  failed: left.failed + right.failed,
  skipped: left.skipped + right.skipped,
});
