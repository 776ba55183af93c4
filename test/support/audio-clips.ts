import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface AudioClip {
  readonly path: string;
  /** What is said, by ear. */
  readonly text: string;
  /** ISO-639-1 */
  readonly language: string;
  /** `human`, or how it was made. */
  readonly kind: string;
}

interface ManifestEntry extends Omit<AudioClip, 'path'> {
  readonly file: string;
}

/** Recordings with their texts; they are not part of the repository. */
export const AUDIO_DIR =
  process.env['STEWARD_AUDIO_DIR'] ?? resolve(__dirname, '..', '..', '..', 'shared', 'audio');

/** The clips of {@link AUDIO_DIR}, or none when there is no such folder. */
export function audioClips(): AudioClip[] {
  const manifest = join(AUDIO_DIR, 'manifest.json');
  if (!existsSync(manifest)) {
    return [];
  }
  const entries = JSON.parse(readFileSync(manifest, 'utf8')) as ManifestEntry[];
  return entries.map(({ file, text, language, kind }) => ({
    path: join(AUDIO_DIR, file),
    text,
    language,
    kind,
  }));
}
