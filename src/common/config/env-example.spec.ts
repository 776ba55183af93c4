import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { envSchema } from './env.schema';

interface Entry {
  readonly name: string;
  readonly value: string;
  readonly sentence: string;
}

const text = readFileSync(join(__dirname, '../../../.env.example'), 'utf8');

/** `# sentence`, perhaps on several lines, then `# NAME=default`. */
const entries: readonly Entry[] = [...text.matchAll(/((?:^# .*\n)+)^# ([A-Z_]+)=(.*)$/gm)].map(
  ([, sentence, name, value]) => ({
    name: name ?? '',
    value: value ?? '',
    sentence: sentence ?? '',
  }),
);

const names = Object.keys(envSchema.shape);
const defaults: Readonly<Record<string, unknown>> = envSchema.parse({});

/** A default that this machine decides, or that is no value at all, cannot stand in a file. */
const hasWrittenDefault = (name: string): boolean => {
  const value = defaults[name];
  return value !== undefined && !(Array.isArray(value) && value.length === 0) && !ofMachine(name);
};
const ofMachine = (name: string): boolean => name === 'RECOGNIZER_THREADS';

describe('.env.example', () => {
  it('names every setting once and nothing else', () => {
    expect(entries.map(({ name }) => name)).toEqual(names);
    const assignments = text.split('\n').filter((line) => /^[# ]*[A-Z_]+=/.test(line));
    expect(assignments).toHaveLength(entries.length);
  });

  it('changes nothing when it is copied as it is', () => {
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });

  it.each(entries.map((entry) => [entry.name, entry] as const))(
    'tells the default of %s and explains it',
    (name, { value, sentence }) => {
      if (hasWrittenDefault(name)) {
        const parsed: Readonly<Record<string, unknown>> = envSchema.parse({ [name]: value });
        expect(parsed[name]).toEqual(defaults[name]);
      } else {
        expect(value).toBe('');
      }
      expect(sentence.length).toBeGreaterThan(20);
    },
  );

  it('leaves a default to the machine where it really depends on it', () => {
    expect(defaults['RECOGNIZER_THREADS']).toBe(availableParallelism());
  });
});
