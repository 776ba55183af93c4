import { EventEmitter } from 'node:events';
import type { Source } from '../pipeline';

export interface IntakeEventMap {
  /** A way in has opened or closed. */
  up: [state: { readonly intake: Source; readonly up: boolean }];
  /** Something was turned away at the door; `reason` is an error code or `stranger`. */
  refused: [refusal: { readonly intake: Source; readonly reason: string }];
}

/** What happens at the doors, for whoever listens. */
export class IntakeEvents {
  private readonly emitter = new EventEmitter();

  on<K extends keyof IntakeEventMap>(
    event: K,
    listener: (...values: IntakeEventMap[K]) => void,
  ): () => void {
    this.emitter.on(event, listener);
    return () => {
      this.emitter.off(event, listener);
    };
  }

  tell<K extends keyof IntakeEventMap>(event: K, ...values: IntakeEventMap[K]): void {
    this.emitter.emit(event, ...values);
  }
}
