import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

export interface Recording {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly progress: number;
  readonly filename: string;
  readonly sha256: string;
  readonly error: { readonly code: string; readonly detail: string } | null;
  readonly finished_at: string | null;
}

const TERMINAL = new Set(['done', 'failed', 'dead', 'cancelled']);
const POLL_MS = 50;
const PATIENCE_MS = 30_000;

/** What a user's program would do with the API. */
export class ApiClient {
  constructor(
    readonly url: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  async call(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...init,
      headers: { ...this.headers, ...(init.headers as Record<string, string> | undefined) },
    });
  }

  async json<T = Record<string, unknown>>(path: string, init: RequestInit = {}): Promise<T> {
    return (await (await this.call(path, init)).json()) as T;
  }

  form(bytes: Uint8Array, name: string, fields: Readonly<Record<string, string>> = {}): FormData {
    const form = new FormData();
    for (const [key, value] of Object.entries(fields)) {
      form.append(key, value);
    }
    form.append('file', new Blob([new Uint8Array(bytes)]), name);
    return form;
  }

  async send(
    bytes: Uint8Array,
    name: string,
    options: {
      readonly fields?: Readonly<Record<string, string>>;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<Response> {
    return this.call('/v1/recordings', {
      method: 'POST',
      body: this.form(bytes, name, options.fields),
      ...(options.headers === undefined ? {} : { headers: options.headers }),
    });
  }

  /** Hands a file in and expects it to be accepted. */
  async accept(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Recording> {
    const response = await this.send(await readFile(path), basename(path), { fields });
    if (response.status !== 202) {
      throw new Error(`not accepted: ${response.status} ${await response.text()}`);
    }
    return (await response.json()) as Recording;
  }

  get(id: string): Promise<Recording> {
    return this.json<Recording>(`/v1/recordings/${id}`);
  }

  /** Asks until `satisfied`, as a polling client does. */
  async until(id: string, satisfied: (recording: Recording) => boolean): Promise<Recording> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const recording = await this.get(id);
      if (satisfied(recording)) {
        return recording;
      }
      if (performance.now() > deadline) {
        throw new Error(`gave up: ${JSON.stringify(recording)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  ended(id: string): Promise<Recording> {
    return this.until(id, ({ state }) => TERMINAL.has(state));
  }
}
