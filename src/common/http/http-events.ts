import { TypedEvents } from '../events/typed-events';

export interface HttpEventMap {
  /** An answer is out. `route` is the template, or `unmatched`: never the raw address. */
  response: [
    response: {
      readonly method: string;
      readonly route: string;
      readonly statusCode: number;
      readonly seconds: number;
    },
  ];
}

/** What the HTTP server has answered, for whoever listens. */
export class HttpEvents extends TypedEvents<HttpEventMap> {}
