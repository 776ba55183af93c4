import { WriteGate } from './write-gate';

describe('WriteGate', () => {
  it('lets one writer in at a time, in order', async () => {
    const gate = new WriteGate();
    const log: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
    };
    await Promise.all([gate.pass(work('a')), gate.pass(work('b')), gate.pass(work('c'))]);
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  it('goes on after a writer that failed, and gives the failure to its caller alone', async () => {
    const gate = new WriteGate();
    const failing = gate.pass(() => Promise.reject(new Error('disk')));
    const next = gate.pass(() => Promise.resolve('written'));
    await expect(failing).rejects.toThrow('disk');
    await expect(next).resolves.toBe('written');
  });

  it('is idle once everything is through', async () => {
    const gate = new WriteGate();
    let done = false;
    void gate.pass(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      done = true;
    });
    expect(done).toBe(false);
    await gate.idle();
    expect(done).toBe(true);
  });
});
