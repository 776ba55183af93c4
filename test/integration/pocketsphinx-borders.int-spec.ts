import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DEBIAN_POCKETSPHINX,
  PocketSphinxRecognizer,
} from '../../src/modules/recognition/engines/pocketsphinx.recognizer';
import { FakeClock } from '../fakes/fake-clock';
import { secondsOf, speechWav, spoken } from '../support/speech-wav';

const SENTENCES = [
  'turn on the lights in the kitchen',
  'the weather is nice today',
  'we will meet at the station at seven',
  'he was reading a book about history',
];
/** More than a window, so that there is a border in the midst of somebody speaking. */
const LENGTH_SECONDS = 70;

describe('PocketSphinx on speech without a break', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'borders-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('loses, doubles and displaces no word where the audio is cut', async () => {
    const clips: Buffer[] = [];
    for (const sentence of SENTENCES) {
      clips.push(await spoken(folder, sentence));
    }
    const round = Buffer.concat(clips);
    const rounds = Math.ceil(LENGTH_SECONDS / secondsOf(round));
    const audio = await speechWav(
      folder,
      'long.wav',
      Buffer.concat(Array<Buffer>(rounds).fill(round)),
    );
    const answer = await new PocketSphinxRecognizer(
      { ...DEBIAN_POCKETSPHINX, scratchDir: folder },
      new FakeClock(),
    ).collect(
      { engine: 'pocketsphinx', model: 'en-us', reference: '' },
      { recordingId: 'long', ...audio, language: 'en', prompt: null },
      new AbortController().signal,
      () => undefined,
    );
    if (answer.status !== 'ready') {
      throw new Error('PocketSphinx works while it is collected');
    }
    const words = answer.result.segments.flatMap((segment) => segment.words ?? []);
    expect(words.map(({ word }) => word).join(' ')).toBe(
      Array(rounds).fill(SENTENCES.join(' ')).join(' '),
    );
    const wordsInRound = words.length / rounds;
    for (const [index, { startSeconds }] of words.entries()) {
      const inFirstRound = words[index % wordsInRound]?.startSeconds ?? 0;
      const offset = Math.floor(index / wordsInRound) * secondsOf(round);
      expect(Math.abs(startSeconds - offset - inFirstRound)).toBeLessThan(0.3);
    }
  }, 300_000);
});
