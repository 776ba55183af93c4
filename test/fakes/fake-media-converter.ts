import { readFile, writeFile } from 'node:fs/promises';
import {
  MediaConverter,
  type Conversion,
  type ConversionProgress,
  type MediaProbe,
} from '../../src/modules/pipeline/media/media-converter.port';

type Request = Parameters<MediaConverter['convert']>[0];

/** Writes "wav of <input>" instead of converting, or fails as told. */
export class FakeMediaConverter extends MediaConverter {
  probed: MediaProbe = {
    durationSeconds: 10,
    channels: 1,
    startSeconds: 0,
    codec: 'opus',
    format: 'ogg',
  };
  durationSeconds = 10;
  /** Seconds reported on the way. */
  reports: readonly number[] = [];
  readonly requests: Request[] = [];
  failure: { readonly on: 'probe' | 'convert'; readonly error: unknown } | undefined;
  /** Called when the output lies half written; may wait, or throw. */
  midway: (signal: AbortSignal) => Promise<void> = async () => undefined;

  async probe(_inputPath: string, signal: AbortSignal): Promise<MediaProbe> {
    signal.throwIfAborted();
    this.failOn('probe');
    return this.probed;
  }

  async convert(
    request: Request,
    signal: AbortSignal,
    onProgress: (progress: ConversionProgress) => void,
  ): Promise<Conversion> {
    this.requests.push(request);
    await writeFile(request.outputPath, 'wav of ');
    for (const seconds of this.reports) {
      onProgress({ seconds });
    }
    await this.midway(signal);
    signal.throwIfAborted();
    this.failOn('convert');
    await writeFile(request.outputPath, await readFile(request.inputPath), { flag: 'a' });
    return { durationSeconds: this.durationSeconds };
  }

  async check(): Promise<void> {
    this.failOn('probe');
  }

  private failOn(method: 'probe' | 'convert'): void {
    if (this.failure?.on === method) {
      throw this.failure.error;
    }
  }
}
