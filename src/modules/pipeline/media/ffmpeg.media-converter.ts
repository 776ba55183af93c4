import { stat } from 'node:fs/promises';
import ffmpeg from 'fluent-ffmpeg';
import type { AppConfig } from '../../../common/config/app-config';
import type { CancelTimer, Clock } from '../../../common/clock/clock';
import { AppError } from '../../../common/errors/app-error';
import { chooseDownmix } from './channel-levels';
import {
  asInput,
  CLOSED_INPUT,
  conversionOptions,
  levelArguments,
  type Downmix,
} from './ffmpeg-arguments';
import { conversionFailure, probeFailure, unavailable } from './ffmpeg-failure';
import { readProbeReport, type ProbeReport } from './ffprobe-report';
import {
  MediaConverter,
  type Conversion,
  type ConversionProgress,
  type MediaProbe,
} from './media-converter.port';
import { runProgram, type ProgramRun } from '../../../common/programs/run-program';

/** Reading a header takes milliseconds; a cold network disk may need longer. */
const PROBE_TIMEOUT_MS = 30_000;
const VERSION_TIMEOUT_MS = 10_000;
/** ffmpeg reports progress twice a second; silence for this long means that it hangs. */
const STALL_MS = 60_000;
/** ffmpeg converts at hundreds of times real time; a machine that is slower than real time is ill. */
const BASE_TIMEOUT_MS = 120_000;
const TIMEOUT_PER_SECOND_MS = 1000;
const KEPT_STDERR_LINES = 50;

const WAV_HEADER_BYTES = 44;
const BYTES_PER_SECOND = 32_000;
/** Encoders pad their last frame; the limit is not meant for that. */
const PADDING_SECONDS = 1;

/** MediaConverter on ffmpeg and ffprobe; the conversion itself through fluent-ffmpeg. */
export class FfmpegMediaConverter extends MediaConverter {
  private readonly scores = new WeakMap<MediaProbe, number>();

  constructor(
    private readonly programs: AppConfig['media'],
    private readonly clock: Clock,
  ) {
    super();
  }

  async probe(inputPath: string, signal: AbortSignal): Promise<MediaProbe> {
    const run = await this.run(
      this.programs.ffprobePath,
      [
        ...['-v', 'error', ...CLOSED_INPUT, '-of', 'json', '-show_format', '-show_streams'],
        ...['-i', asInput(inputPath)],
      ],
      PROBE_TIMEOUT_MS,
      signal,
    );
    if (run.exitCode !== 0) {
      throw probeFailure(run.stderr);
    }
    const { score, ...probe }: ProbeReport = readProbeReport(run.stdout);
    this.scores.set(probe, score);
    return probe;
  }

  async convert(
    request: {
      readonly inputPath: string;
      readonly outputPath: string;
      readonly probe: MediaProbe;
      readonly maxSeconds: number;
    },
    signal: AbortSignal,
    onProgress: (progress: ConversionProgress) => void,
  ): Promise<Conversion> {
    const { inputPath, outputPath, probe, maxSeconds } = request;
    const timeoutMs =
      BASE_TIMEOUT_MS + TIMEOUT_PER_SECOND_MS * (probe.durationSeconds ?? maxSeconds);
    const downmix = probe.channels === 2 ? await this.downmix(inputPath, timeoutMs, signal) : 'mix';
    const score = this.scores.get(probe) ?? 100;
    await this.runFluent(
      { inputPath, outputPath, downmix, maxSeconds, timeoutMs, score },
      signal,
      onProgress,
    );
    const { size } = await stat(outputPath).catch(() => ({ size: 0 }));
    const durationSeconds = Math.max(0, size - WAV_HEADER_BYTES) / BYTES_PER_SECOND;
    if (durationSeconds === 0) {
      throw conversionFailure('no samples', score);
    }
    if (durationSeconds > maxSeconds + PADDING_SECONDS / 2) {
      throw new AppError('too_long', {
        detail: `Recordings may last ${maxSeconds} seconds at most`,
      });
    }
    return { durationSeconds };
  }

  async check(): Promise<void> {
    const never = new AbortController().signal;
    for (const program of [this.programs.ffmpegPath, this.programs.ffprobePath]) {
      const run = await this.run(program, ['-version'], VERSION_TIMEOUT_MS, never);
      if (run.exitCode !== 0) {
        throw unavailable(new Error(`exit code ${String(run.exitCode)}`));
      }
    }
  }

  /** Stereo in opposite phase would cancel itself out; measuring costs one more decoding. */
  private async downmix(
    inputPath: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Downmix> {
    const run = await this.run(
      this.programs.ffmpegPath,
      levelArguments(inputPath),
      timeoutMs,
      signal,
    );
    return chooseDownmix(run.stderr);
  }

  /** For everything but the conversion: fluent-ffmpeg's ffprobe can neither be killed nor bounded. */
  private async run(
    program: string,
    args: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ProgramRun> {
    let run: ProgramRun;
    try {
      run = await runProgram(program, args, { clock: this.clock, timeoutMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw unavailable(error);
    }
    if (run.timedOut) {
      throw new AppError('conversion_timeout');
    }
    if (run.signal !== null) {
      throw unavailable(new Error(`killed by ${run.signal}`));
    }
    return run;
  }

  private runFluent(
    job: {
      readonly inputPath: string;
      readonly outputPath: string;
      readonly downmix: Downmix;
      readonly maxSeconds: number;
      readonly timeoutMs: number;
      readonly score: number;
    },
    signal: AbortSignal,
    onProgress: (progress: ConversionProgress) => void,
  ): Promise<void> {
    signal.throwIfAborted();
    const command = ffmpeg({ source: asInput(job.inputPath), stdoutLines: KEPT_STDERR_LINES });
    command.setFfmpegPath(this.programs.ffmpegPath);
    skipCapabilities(command);
    command
      .inputOptions(['-hide_banner', '-nostdin', ...CLOSED_INPUT])
      .outputOptions(conversionOptions(job.downmix, job.maxSeconds + PADDING_SECONDS))
      .output(asInput(job.outputPath));

    return new Promise((resolve, reject) => {
      let started = false;
      let verdict: (() => unknown) | undefined;
      // fluent-ffmpeg ignores kill() before its `start`: the wish is remembered and granted then.
      const kill = (why: () => unknown): void => {
        verdict ??= why;
        if (started) {
          command.kill('SIGKILL');
        }
      };
      const onAbort = (): void => kill(() => signal.reason);
      const onTime = (): void => kill(() => new AppError('conversion_timeout'));
      signal.addEventListener('abort', onAbort, { once: true });
      const cancelTotal = this.clock.after(job.timeoutMs, onTime);
      let cancelStall: CancelTimer = this.clock.after(STALL_MS, onTime);
      const settle = (finish: () => void): void => {
        cancelTotal();
        cancelStall();
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      command
        .on('start', () => {
          started = true;
          if (verdict !== undefined) {
            command.kill('SIGKILL');
          }
        })
        .on('progress', ({ timemark }: { timemark?: string }) => {
          cancelStall();
          cancelStall = this.clock.after(STALL_MS, onTime);
          onProgress({ seconds: secondsOf(timemark) });
        })
        .on('end', () =>
          settle(() => (verdict === undefined ? resolve() : reject(verdict() as Error))),
        )
        .on('error', (error: Error, _stdout: string | null, stderr: string | null) =>
          settle(() =>
            reject(
              (verdict?.() as Error | undefined) ?? fluentFailure(error, stderr ?? '', job.score),
            ),
          ),
        )
        .run();
    });
  }
}

/**
 * fluent-ffmpeg would first ask ffmpeg for its formats and encoders, in children that can neither be
 * bounded nor killed. What we need is in every build.
 */
function skipCapabilities(command: ffmpeg.FfmpegCommand): void {
  const noError = null as unknown as Error; // the typings know no success
  command.availableFormats = (callback) =>
    callback(noError, { wav: { description: 'WAV', canDemux: true, canMux: true } });
  command.availableEncoders = (callback) => callback(noError, {});
}

/** fluent-ffmpeg tells everything in words. */
function fluentFailure(error: Error, stderr: string, score: number): AppError {
  if (/was killed with signal|Cannot find ffmpeg|ENOENT|EACCES|spawn/.test(error.message)) {
    return unavailable(error);
  }
  return conversionFailure(stderr === '' ? error.message : stderr, score);
}

/** `01:02:03.45` in seconds. */
function secondsOf(timemark: string | undefined): number {
  return (timemark ?? '')
    .split(':')
    .reduce((seconds, part) => seconds * 60 + (Number(part) || 0), 0);
}
