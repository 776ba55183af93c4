import { TypedEvents } from '../../common/events/typed-events';
import type { Source } from '../pipeline';

export interface IntakeEventMap {
  /** A way in has opened or closed. */
  up: [state: { readonly intake: Source; readonly up: boolean }];
  /** Something was turned away at the door; `reason` is an error code or `stranger`. */
  refused: [refusal: { readonly intake: Source; readonly reason: string }];
}

/** What happens at the doors, for whoever listens. */
export class IntakeEvents extends TypedEvents<IntakeEventMap> {}
