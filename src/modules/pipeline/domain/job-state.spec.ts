import { isTerminal, JOB_STATES, moved, statesThatAllow, TRANSITIONS } from './job-state';

describe('the state machine of a job', () => {
  it('reaches every state from created', () => {
    const reached = new Set(['created']);
    let grown = true;
    while (grown) {
      grown = false;
      for (const state of JOB_STATES.filter((each) => reached.has(each))) {
        for (const next of Object.values(TRANSITIONS[state])) {
          if (!reached.has(next)) {
            reached.add(next);
            grown = true;
          }
        }
      }
    }
    expect([...reached].sort()).toEqual([...JOB_STATES].sort());
  });

  it('lets a terminal state be left by retry alone, and done not at all', () => {
    for (const state of JOB_STATES.filter(isTerminal)) {
      expect(Object.keys(TRANSITIONS[state])).toEqual(state === 'done' ? [] : ['retry']);
    }
    expect(statesThatAllow('retry')).toEqual(['failed', 'dead', 'cancelled']);
  });

  it('moves created -> converted -> transcribe -> done', () => {
    expect(moved(moved(moved('created', 'advance'), 'advance'), 'advance')).toBe('done');
  });

  it('refuses a move that does not exist', () => {
    expect(() => moved('done', 'cancel')).toThrow('a job cannot cancel from done');
    expect(() => moved('created', 'retry')).toThrow(RangeError);
  });
});
