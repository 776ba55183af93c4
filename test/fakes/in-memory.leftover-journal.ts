import { LeftoverJournal } from '../../src/common/storage/leftover-journal.port';

export class InMemoryLeftoverJournal extends LeftoverJournal {
  readonly notes = new Set<string>();

  async note(id: string): Promise<void> {
    this.notes.add(id);
  }

  async clear(id: string): Promise<void> {
    this.notes.delete(id);
  }

  async *noted(): AsyncGenerator<string> {
    yield* [...this.notes];
  }
}
