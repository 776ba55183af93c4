/** Calls things at a steady pace: the heartbeat of the workers. Bound to @nestjs/schedule in the product. */
export abstract class PollSchedule {
  /** Calls `tick` every `intervalMs` until `stop(name)`. `tick` must return at once and never throw. */
  abstract every(name: string, intervalMs: number, tick: () => void): void;
  abstract stop(name: string): void;
}
