import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');
const START_TIMEOUT_MS = 60_000;

/** The built program as a process of its own, configured by environment alone, as an owner runs it. */
export class StewardProcess {
  private text = '';
  private readonly watchers = new Set<() => void>();
  readonly exited: Promise<number | null>;
  url = '';

  private constructor(private readonly child: ChildProcess) {
    const take = (chunk: Buffer): void => {
      this.text += chunk.toString();
      for (const watcher of this.watchers) {
        watcher();
      }
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    this.exited = once(child, 'exit').then(([code]) => code as number | null);
  }

  /** Starts and waits until the program says where it listens. */
  static async start(environment: Readonly<Record<string, string>>): Promise<StewardProcess> {
    const started = StewardProcess.spawn(environment);
    const line = await started.outputMatching(/listening on (http:\/\/[^\s"]+)/);
    started.url = line[1] ?? '';
    return started;
  }

  /** Starts without waiting, for a program that is expected to refuse. */
  static spawn(environment: Readonly<Record<string, string>>): StewardProcess {
    if (!existsSync(MAIN)) {
      throw new Error('dist/main.js is missing: run "npm run build" first');
    }
    const child = spawn(process.execPath, [MAIN], {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: '0',
        LOG_FORMAT: 'json',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new StewardProcess(child);
  }

  /** Everything written to stdout and stderr so far. */
  get output(): string {
    return this.text;
  }

  /** The log records written so far; lines that are not JSON are a test's business to look for. */
  get records(): readonly Readonly<Record<string, unknown>>[] {
    return this.text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Resolves with the match as soon as the output contains it; fails when the program ends before. */
  async outputMatching(pattern: RegExp): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void): void => {
        clearTimeout(timer);
        this.watchers.delete(look);
        act();
      };
      const look = (): void => {
        const match = this.text.match(pattern);
        if (match !== null) {
          finish(() => resolve(match));
        }
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`no ${String(pattern)} in:\n${this.text}`))),
        START_TIMEOUT_MS,
      );
      this.watchers.add(look);
      void this.exited.then((code) => {
        look();
        finish(() => reject(new Error(`ended with ${String(code)}:\n${this.text}`)));
      });
      look();
    });
  }

  /** Asks it to stop and waits for the end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill(signal);
    }
    return this.exited;
  }

  /** kill -9, as a crash would. */
  async crash(): Promise<void> {
    await this.stop('SIGKILL');
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }
}
