/**
 * "There is no work in this state right now": an answer, not a failure
 * (docs/invariants.md). It is born in exactly one place, the queue's storage, as the
 * answer to the poll of the step that asked; the poll's identity travels inside, so that the
 * sign of another step's poll is not mistaken for one's own.
 */
export class NoopError extends Error {
  override readonly name = 'NoopError';

  constructor(readonly poll: PollId) {
    super('no work in this state');
  }
}

/** Identity of one poll by one worker. Compared by reference, so it cannot be forged by a copy. */
export class PollId {
  constructor(readonly worker: string) {}
}

/** Errors reachable from `error` by `cause` and, for aggregates, `errors`; itself first; cycle-safe. */
export function* errorChain(error: unknown): Generator<unknown> {
  const queue: unknown[] = [error];
  const seen = new Set<unknown>();
  while (queue.length > 0) {
    const current = queue.shift();
    if (current === undefined || current === null || seen.has(current)) {
      continue;
    }
    seen.add(current);
    yield current;
    if (current instanceof Error) {
      queue.push(current.cause);
      if (current instanceof AggregateError) {
        queue.push(...(current.errors as unknown[]));
      }
    }
  }
}

/**
 * Is this the answer "no work", whatever explanations were wrapped around it on the way?
 * With `poll`, only a sign born by that very poll counts.
 */
export function isNoop(error: unknown, poll?: PollId): boolean {
  for (const link of errorChain(error)) {
    if (link instanceof NoopError && (poll === undefined || link.poll === poll)) {
      return true;
    }
  }
  return false;
}

/**
 * What a layer may keep as the cause of a failure to which it gives its own meaning: the chain as
 * it is, or, when a noop is mixed into it, its words only. Otherwise a failed job would read as an
 * empty poll and be polled for ever without a record.
 */
export function withoutNoop(cause: unknown): unknown {
  if (!isNoop(cause)) {
    return cause;
  }
  const words: string[] = [];
  for (const link of errorChain(cause)) {
    if (link instanceof Error) {
      words.push(link.message);
    }
  }
  return new Error(words.join(': '));
}
