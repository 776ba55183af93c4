/**
 * Lets one writer in at a time. On SQLite all statements of a DataSource share one connection, so a
 * write that slips into somebody else's open transaction is undone with it after having been
 * acknowledged (docs/adr/0002-sqlite-write-gate.md). Serialising only transactions is not enough:
 * every write passes here.
 */
export class WriteGate {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after everything that was passed in before it, whatever became of that. */
  pass<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work, work);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when everything passed in so far is through. */
  async idle(): Promise<void> {
    await this.last;
  }
}
