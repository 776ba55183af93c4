import { AppError, asAppError } from './app-error';
import { errorChain, isNoop, NoopError, PollId, withoutNoop } from './noop';

const poll = new PollId('convert');
const noop = new NoopError(poll);

function wrapped(error: Error, depth: number): Error {
  let outer = error;
  for (let layer = 0; layer < depth; layer += 1) {
    outer = new Error(`layer ${layer}`, { cause: outer });
  }
  return outer;
}

describe('isNoop', () => {
  it.each([
    ['itself', noop],
    ['under one explanation', wrapped(noop, 1)],
    ['under fifty', wrapped(noop, 50)],
    ['in an aggregate', new AggregateError([new Error('a'), noop])],
    ['under an aggregate in a chain', wrapped(new AggregateError([wrapped(noop, 3)]), 3)],
    ['as the cause of an aggregate', new AggregateError([], 'none', { cause: noop })],
  ])('knows the sign %s', (_where, error) => {
    expect(isNoop(error)).toBe(true);
    expect(isNoop(error, poll)).toBe(true);
  });

  it("tells a poll's own sign from another's, also from one of the same worker", () => {
    expect(isNoop(noop, new PollId('convert'))).toBe(false);
    const both = new AggregateError([new NoopError(new PollId('convert')), noop]);
    expect(isNoop(both, poll)).toBe(true);
  });

  it.each([
    ['another failure', new Error('no work in this state')],
    ['nothing', undefined],
    ['null', null],
    ['a word', 'no work in this state'],
    ['a look-alike', Object.assign(new Error('x'), { name: 'NoopError', poll })],
    ['a failure of ours', new AppError('internal')],
  ])('does not take %s for it', (_what, value) => {
    expect(isNoop(value)).toBe(false);
  });

  it('comes to an end on a circle', () => {
    const first = new Error('first');
    const second = new Error('second', { cause: first });
    first.cause = second;
    expect(isNoop(first)).toBe(false);
    expect([...errorChain(first)]).toEqual([first, second]);
  });
});

describe('withoutNoop', () => {
  it('leaves a cause without the sign as it is', () => {
    const cause = wrapped(new Error('disk'), 2);
    expect(withoutNoop(cause)).toBe(cause);
    expect(withoutNoop('word')).toBe('word');
  });

  it('keeps the words alone of a cause with the sign in it', () => {
    const cause = withoutNoop(new Error('engine', { cause: new AggregateError([noop], 'both') }));
    expect(isNoop(cause)).toBe(false);
    expect((cause as Error).message).toBe('engine: both: no work in this state');
  });
});

describe('a failure with a meaning of its own', () => {
  it.each([
    ['bare', noop],
    ['wrapped', wrapped(noop, 5)],
    ['in an aggregate', new AggregateError([noop])],
  ])('never carries the sign: %s', (_how, cause) => {
    const failure = new AppError('engine_failed', { cause });
    expect(isNoop(failure)).toBe(false);
    expect(isNoop(new Error('outer', { cause: failure }))).toBe(false);
    expect(isNoop(asAppError(cause))).toBe(false);
  });
});
