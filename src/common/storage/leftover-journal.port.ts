/**
 * Notes whose bytes are about to be put or removed, until their row says the same. After a crash only
 * what is noted here can be a leftover; any other audio without a row is somebody's recording whose
 * database is not the one we were started with, and is never removed.
 *
 * All methods throw AppError `storage_full` or `storage_unavailable`.
 */
export abstract class LeftoverJournal {
  /** When it resolves, the note survives a power cut. Noting twice is one note. */
  abstract note(id: string): Promise<void>;

  /** Takes the note back; harmless when there is none. */
  abstract clear(id: string): Promise<void>;

  /** Every id noted, in no order. */
  abstract noted(): AsyncIterable<string>;
}
