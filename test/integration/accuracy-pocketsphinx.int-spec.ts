import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DEBIAN_POCKETSPHINX,
  PocketSphinxRecognizer,
} from '../../src/modules/recognition/engines/pocketsphinx.recognizer';
import { FakeClock } from '../fakes/fake-clock';
import { AUDIO_DIR, audioClips, type AudioClip } from '../support/audio-clips';
import { samplesOf, secondsOf, speechWav } from '../support/speech-wav';
import { wordErrorRate, wordErrors } from '../support/word-error-rate';

const WORST_RATE = 0.45;

const clips = audioClips().filter(({ language, kind }) => language === 'en' && kind === 'human');
const tell = (line: string): void => {
  process.stderr.write(`PocketSphinx accuracy: ${line}\n`);
};
if (clips.length === 0) {
  tell(`SKIPPED, no English human clips in ${AUDIO_DIR}; set STEWARD_AUDIO_DIR to measure it`);
}
const whenThereAreClips = clips.length === 0 ? it.skip : it;

describe('PocketSphinx on people speaking English', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'accuracy-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const hear = async (clip: AudioClip): Promise<{ text: string; seconds: number }> => {
    const pcm = await samplesOf(folder, clip.path);
    const recognizer = new PocketSphinxRecognizer(
      { ...DEBIAN_POCKETSPHINX, scratchDir: folder },
      new FakeClock(),
    );
    const answer = await recognizer.collect(
      { engine: 'pocketsphinx', model: 'en-us', reference: '' },
      {
        recordingId: '0192f0c1-0000-7000-8000-000000000001',
        ...(await speechWav(folder, 'clip.wav', pcm)),
        language: clip.language,
        prompt: null,
      },
      new AbortController().signal,
      () => undefined,
    );
    if (answer.status !== 'ready') {
      throw new Error('PocketSphinx works while it is collected');
    }
    const text = answer.result.segments.map((segment) => segment.text).join(' ');
    return { text, seconds: secondsOf(pcm) };
  };

  whenThereAreClips(
    'hears more than half of the words',
    async () => {
      const startedAt = performance.now();
      const scores: ReturnType<typeof wordErrors>[] = [];
      let seconds = 0;
      for (const clip of clips) {
        const heard = await hear(clip);
        seconds += heard.seconds;
        scores.push(wordErrors(clip.text, heard.text));
      }
      const rate = wordErrorRate(scores);
      const realTime = (performance.now() - startedAt) / 1000 / seconds;
      tell(
        `${(100 * rate).toFixed(1)} % of the words wrong in ${clips.length} clips of ` +
          `${seconds.toFixed(0)} s, ${realTime.toFixed(2)} of real time`,
      );
      expect(rate).toBeLessThanOrEqual(WORST_RATE);
    },
    300_000,
  );
});
