import { AppError } from '../../src/common/errors/app-error';
import { PollId } from '../../src/common/errors/noop';
import type { ClaimedJob } from '../../src/modules/pipeline/domain/job';
import type { StepResult } from '../../src/modules/pipeline/persistence/job.repository.port';
import { newJob, TestIds } from '../fakes/test-jobs';
import type { SqlQueue } from '../integration/sql-queue';

const TTL = 60_000;

/** What the SQL queue owes to its tables, on both dialects. */
export function describeSqlQueueContract(name: string, open: () => Promise<SqlQueue>): void {
  describe(`${name} as tables`, () => {
    let queue: SqlQueue;
    const ids = new TestIds();

    beforeAll(async () => {
      queue = await open();
    });
    afterEach(() => queue.clear());
    afterAll(() => queue.close());

    async function claimed(): Promise<ClaimedJob> {
      await queue.repository.create(newJob(ids.next()));
      const answer = await queue.repository.poll('created', new PollId('convert'), TTL, 5);
      if (answer.kind !== 'claimed') {
        throw new Error('expected a claim');
      }
      return answer.job;
    }

    async function inTranscribe(): Promise<ClaimedJob> {
      const { id } = await claimed();
      await queue.raw(
        `UPDATE recordings SET state = 'transcribe', claim_token = NULL, claim_expires_at = NULL
         WHERE id = :id`,
        { id },
      );
      const answer = await queue.repository.poll('transcribe', new PollId('collect'), TTL, 5);
      return (answer as { job: ClaimedJob }).job;
    }

    const doneWith = (id: string, text: string): StepResult => ({
      to: 'done',
      transcript: {
        recording_id: id,
        text,
        language: null,
        duration_s: 1,
        engine: 'pocketsphinx',
        model: 'en-us',
        segments: [],
        warnings: [],
      },
    });

    it('is not done when its text could not be kept, and the holder may try again', async () => {
      const held = await inTranscribe();
      await queue.raw('ALTER TABLE transcripts RENAME TO transcripts_away');
      try {
        await expect(
          queue.repository.advance(held.claim, doneWith(held.id, 'lost?')),
        ).rejects.toBeInstanceOf(AppError);
        expect(await queue.repository.find(held.id)).toMatchObject({
          state: 'transcribe',
          finishedAt: null,
        });
        expect(await queue.repository.holds(held.claim)).toBe(true);
      } finally {
        await queue.raw('ALTER TABLE transcripts_away RENAME TO transcripts');
      }
      expect(await queue.repository.advance(held.claim, doneWith(held.id, 'kept'))).toMatchObject({
        state: 'done',
      });
      expect((await queue.repository.transcript(held.id))?.text).toBe('kept');
    });

    it.each([
      ['a token without an expiry', 'claim_expires_at = NULL'],
      ['an expiry without a token', 'claim_token = NULL'],
      ['a state off the list', "state = 'working'"],
      ['attempts below zero', 'attempts = -1'],
    ])('refuses %s', async (_what, change) => {
      const { id } = await claimed();
      await expect(
        queue.raw(`UPDATE recordings SET ${change} WHERE id = :id`, { id }),
      ).rejects.toMatchObject({ code: 'storage_unavailable' });
    });

    it('refuses a text without its recording', async () => {
      await expect(
        queue.raw(`INSERT INTO transcripts (recording_id, body, created_at) VALUES ('x', '{}', 0)`),
      ).rejects.toBeInstanceOf(AppError);
    });

    it('keeps the text when an unrelated column of its recording is written (Q26)', async () => {
      const held = await claimed();
      await queue.raw(`UPDATE recordings SET filename = 'new name' WHERE id = :id`, {
        id: held.id,
      });
      expect(await queue.repository.holds(held.claim)).toBe(true);
      expect(await queue.repository.find(held.id)).toMatchObject({
        attempts: 1,
        filename: 'new name',
      });
    });

    it('keeps texts of any length and script', async () => {
      const held = await inTranscribe();
      const text = 'слово \u{1f399} \u0000 "quoted" \n'.repeat(100_000);
      await queue.repository.advance(held.claim, doneWith(held.id, text));
      expect((await queue.repository.transcript(held.id))?.text).toBe(text);
    });
  });
}
