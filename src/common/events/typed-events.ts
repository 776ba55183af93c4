/** Event names with the values each is told with. */
export type EventMap<M> = { readonly [K in keyof M]: readonly unknown[] };

export type ListenerFailure = (event: string, error: unknown) => void;

/**
 * Typed events inside the process, told after what they speak of is saved. A listener that throws
 * must not undo that: its failure is reported, the other listeners and the teller go on.
 */
export class TypedEvents<M extends EventMap<M>> {
  private readonly listeners: { [K in keyof M]?: Set<(...values: M[K]) => void> } = {};

  /** @param onListenerFailure without it a failing listener ends the process, loudly */
  constructor(private readonly onListenerFailure: ListenerFailure = rethrowLater) {}

  on<K extends keyof M>(event: K, listener: (...values: M[K]) => void): () => void {
    const set = (this.listeners[event] ??= new Set());
    set.add(listener);
    return () => {
      set.delete(listener);
    };
  }

  tell<K extends keyof M>(event: K, ...values: M[K]): void {
    for (const listener of [...(this.listeners[event] ?? [])]) {
      try {
        listener(...values);
      } catch (error) {
        this.onListenerFailure(String(event), error);
      }
    }
  }
}

function rethrowLater(_event: string, error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
