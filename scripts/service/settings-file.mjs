import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnvFile } from 'node:process';
import { ROOT } from '../setup/paths.mjs';

/** Takes the settings of .env into this process's environment; what is set there already wins. */
export function loadSettingsFile() {
  const file = join(ROOT, '.env');
  if (existsSync(file)) {
    loadEnvFile(file);
  }
}
