import { asSrt, asVtt, timestamp } from './subtitles';
import type { Transcript } from './transcript';

const transcript = (segments: [number, number, string][]): Transcript => ({
  recording_id: 'id',
  text: segments.map(([, , text]) => text).join(' '),
  language: 'en',
  duration_s: 60,
  engine: 'pocketsphinx',
  model: 'en-us',
  segments: segments.map(([start_s, end_s, text], index) => ({ index, start_s, end_s, text })),
  warnings: [],
});

describe('subtitles', () => {
  it.each([
    [0, '00:00:00.000'],
    [3599.9994, '00:59:59.999'],
    [3599.9996, '01:00:00.000'],
    [3600, '01:00:00.000'],
    [4512.345, '01:15:12.345'],
    [36_000, '10:00:00.000'],
    [360_061.5, '100:01:01.500'],
  ])('prints %d s as %s', (seconds, expected) => {
    expect(timestamp(seconds, '.')).toBe(expected);
  });

  it('numbers SubRip cues from one and divides milliseconds with a comma', () => {
    expect(
      asSrt(
        transcript([
          [0.5, 1.25, 'turn on'],
          [2, 3, 'the lights'],
        ]),
      ),
    ).toBe(
      '1\n00:00:00,500 --> 00:00:01,250\nturn on\n\n2\n00:00:02,000 --> 00:00:03,000\nthe lights\n',
    );
  });

  it('heads WebVTT also when nothing was said', () => {
    expect(asVtt(transcript([]))).toBe('WEBVTT\n');
    expect(asSrt(transcript([]))).toBe('');
  });

  it('escapes what WebVTT would read as markup, and drops blank lines inside a cue', () => {
    expect(asVtt(transcript([[0, 1, 'a <b> & c\n\nd --> e']]))).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na &lt;b&gt; &amp; c\nd --&gt; e\n',
    );
  });
});
