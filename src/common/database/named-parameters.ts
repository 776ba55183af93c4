export type SqlValue = string | number | null;
export type SqlParameters = Readonly<Record<string, SqlValue>>;
export type Dialect = 'sqlite' | 'postgres';

/**
 * Turns `:name` into the dialect's positional placeholders. Values are always bound, never written
 * into the text; a PostgreSQL cast (`::bigint`) is left alone.
 * @throws Error when the text names a parameter that was not given: a bug, found by the first test
 */
export function bindNamed(
  sql: string,
  parameters: SqlParameters,
  dialect: Dialect,
): { text: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const positions = new Map<string, number>();
  const text = sql.replace(/(?<!:):([a-z][A-Za-z0-9]*)/g, (_whole, name: string) => {
    const value = parameters[name];
    if (value === undefined) {
      throw new Error(`SQL parameter :${name} was not given`);
    }
    if (dialect === 'sqlite') {
      values.push(value);
      return '?';
    }
    const known = positions.get(name);
    if (known !== undefined) {
      return `$${known}`;
    }
    values.push(value);
    positions.set(name, values.length);
    return `$${values.length}`;
  });
  return { text, values };
}
