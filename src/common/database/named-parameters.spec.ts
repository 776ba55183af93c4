import { bindNamed } from './named-parameters';

describe('bindNamed', () => {
  it('repeats the value for every use on SQLite', () => {
    expect(bindNamed('a = :x AND b = :y OR c = :x', { x: 1, y: 'two' }, 'sqlite')).toEqual({
      text: 'a = ? AND b = ? OR c = ?',
      values: [1, 'two', 1],
    });
  });

  it('reuses the position on PostgreSQL and leaves casts alone', () => {
    expect(bindNamed('a = :x::bigint AND b = :y OR c = :x', { x: 1, y: null }, 'postgres')).toEqual(
      { text: 'a = $1::bigint AND b = $2 OR c = $1', values: [1, null] },
    );
  });

  it('refuses a text whose parameter was not given', () => {
    expect(() => bindNamed('a = :missing', {}, 'sqlite')).toThrow(/:missing/);
  });
});
