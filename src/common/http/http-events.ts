import { EventEmitter } from 'node:events';

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
export class HttpEvents {
  private readonly emitter = new EventEmitter();

  on<K extends keyof HttpEventMap>(
    event: K,
    listener: (...values: HttpEventMap[K]) => void,
  ): () => void {
    this.emitter.on(event, listener);
    return () => {
      this.emitter.off(event, listener);
    };
  }

  tell<K extends keyof HttpEventMap>(event: K, ...values: HttpEventMap[K]): void {
    this.emitter.emit(event, ...values);
  }
}
