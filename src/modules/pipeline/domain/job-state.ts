export const JOB_STATES = [
  'created',
  'converted',
  'transcribe',
  'done',
  'failed',
  'dead',
  'cancelled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

export const WORKING_STATES = ['created', 'converted', 'transcribe'] as const;
export type WorkingState = (typeof WORKING_STATES)[number];

/** What makes a job change its state. */
export type JobMove = 'advance' | 'fail' | 'bury' | 'cancel' | 'retry';

/**
 * The state machine as data (docs/job-states.md explains each state). A move that is not listed does
 * not exist; the SQL that carries a move out checks the old state once more.
 */
export const TRANSITIONS: Readonly<Record<JobState, Readonly<Partial<Record<JobMove, JobState>>>>> =
  {
    created: { advance: 'converted', fail: 'failed', bury: 'dead', cancel: 'cancelled' },
    converted: { advance: 'transcribe', fail: 'failed', bury: 'dead', cancel: 'cancelled' },
    transcribe: { advance: 'done', fail: 'failed', bury: 'dead', cancel: 'cancelled' },
    done: {},
    failed: { retry: 'created' },
    dead: { retry: 'created' },
    cancelled: { retry: 'created' },
  };

/** States from which `move` leads on. */
export function statesThatAllow(move: JobMove): readonly JobState[] {
  return JOB_STATES.filter((state) => TRANSITIONS[state][move] !== undefined);
}

/** @throws RangeError when the machine has no such move: a bug, never a user's mistake */
export function moved(state: JobState, move: JobMove): JobState {
  const next = TRANSITIONS[state][move];
  if (next === undefined) {
    throw new RangeError(`a job cannot ${move} from ${state}`);
  }
  return next;
}

export function isTerminal(state: JobState): boolean {
  return !(WORKING_STATES as readonly JobState[]).includes(state);
}
