/** Small arithmetic of the benchmarks. */

export const percentile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
};

export const median = (values) => percentile(values, 0.5);

/** One line of the table in docs/benchmarks.md. */
export function report(rows) {
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...rows.map((row) => String(row[column]).length)),
  );
  for (const row of rows) {
    console.log(
      `| ${row.map((cell, column) => String(cell).padEnd(widths[column])).join(' | ')} |`,
    );
  }
}

export const ms = (value) => `${value.toFixed(1)} ms`;
export const ratio = (value) => `${value.toFixed(2)}x`;
export const verdict = (met) => (met ? 'met' : 'MISSED');
