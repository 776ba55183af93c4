import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of this program, from the package it was built in. */
export const VERSION: string = (
  JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as { version: string }
).version;
