import { openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { interrupted } from '../setup/interrupt.mjs';
import { ROOT } from '../setup/paths.mjs';
import { say, StepFailure } from '../setup/steps.mjs';

const SAMPLE = join(ROOT, 'samples', 'sample.ogg');
const BOUND_MS = 180_000;
const POLL_MS = 500;
const TERMINAL = ['done', 'failed', 'dead', 'cancelled'];

/**
 * Sends the sample as any client would, shows how it gets on, prints its transcript.
 * @throws StepFailure when it does not end in a transcript within three minutes.
 */
export async function transcribeSample(url) {
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(BOUND_MS)]);
  const ask = (path, options = {}) => request(`${url}${path}`, { ...options, signal });
  try {
    const form = new FormData();
    form.append('file', await openAsBlob(SAMPLE, { type: 'audio/ogg' }), basename(SAMPLE));
    form.append('language', 'en');
    say(`\nSending ${basename(SAMPLE)}`);
    const accepted = await (await ask('/v1/recordings', { method: 'POST', body: form })).json();
    const recording = await follow(ask, accepted.id, signal);
    if (recording.state !== 'done') {
      const { code, detail } = recording.error ?? {};
      throw new StepFailure(`the sample ended ${recording.state}: ${code ?? ''} ${detail ?? ''}`);
    }
    const transcript = await ask(`/v1/recordings/${accepted.id}/transcript?format=text`);
    say(`\nTranscript (${recording.engine}, ${recording.duration_s} s of audio):\n`);
    say(`  ${(await transcript.text()).trim()}`);
  } catch (error) {
    if (error.name === 'TimeoutError') {
      throw new StepFailure(`the sample had no transcript after ${BOUND_MS / 1000} s`);
    }
    throw error;
  }
}

async function follow(ask, id, signal) {
  let shown = '';
  for (;;) {
    const recording = await (await ask(`/v1/recordings/${id}`)).json();
    const line = `  ${recording.state.padEnd(10)} ${Math.round(recording.progress * 100)} %`;
    if (line !== shown) {
      say(line);
      shown = line;
    }
    if (TERMINAL.includes(recording.state)) {
      return recording;
    }
    await wait(POLL_MS, undefined, { signal });
  }
}

/** A refusal is shown in the service's own words. */
async function request(url, options) {
  const key = process.env.API_KEYS?.split(',')[0].split(':').slice(1).join(':').trim();
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const response = await fetch(url, { ...options, headers });
  if (!response.ok) {
    throw new StepFailure(`${url} answered ${response.status}`, await response.text());
  }
  return response;
}
