import { chmod, rm, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually';

/**
 * Stand-ins for outside programs, first in PATH, that wait while a file says so and then run the real
 * one: so a test can stop the service exactly while a step is under way.
 */
export class HeldPrograms {
  constructor(
    private readonly folder: string,
    private readonly names: readonly string[],
  ) {}

  async install(): Promise<void> {
    for (const name of this.names) {
      const real = execFileSync('which', [name]).toString().trim();
      const script = `#!/bin/sh
case "$*" in ''|-version|-help) exec ${real} "$@";; esac
touch "${this.mark(name)}"
while [ -e "${this.hold(name)}" ]; do sleep 0.05; done
exec ${real} "$@"
`;
      await writeFile(join(this.folder, name), script);
      await chmod(join(this.folder, name), 0o755);
    }
  }

  get path(): string {
    return `${this.folder}:${process.env['PATH'] ?? ''}`;
  }

  async holdBack(name: string): Promise<void> {
    await writeFile(this.hold(name), '');
  }

  async letGo(name: string): Promise<void> {
    await rm(this.hold(name), { force: true });
  }

  /** Resolves when the program has been started. */
  async started(name: string): Promise<void> {
    await eventually(`${name} is started`, () => existsSync(this.mark(name)));
  }

  private hold(name: string): string {
    return join(this.folder, `${name}.hold`);
  }

  private mark(name: string): string {
    return join(this.folder, `${name}.started`);
  }
}
