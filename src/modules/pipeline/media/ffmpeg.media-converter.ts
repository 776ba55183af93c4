import { stat } from 'node:fs/promises';
import ffmpeg from 'fluent-ffmpeg';
import type { AppConfig } from '../../../common/config/app-config';
import type { Clock } from '../../../common/clock/clock';
import { AppError } from '../../../common/errors/app-error';
import { runProgram, type ProgramRun } from '../../../common/programs/run-program';
import type { SupervisedRun } from '../../../common/programs/supervised-program';
import { watchProgram } from '../../../common/programs/watch-program';
import { claimedWavFactor } from './claimed-wav-length';
import { betterMixing, firstMixing, type Mixing } from './channel-mix';
import { fileUrl, INPUT_OPTIONS, outputOptions, probeArguments } from './ffmpeg-arguments';
import {
  ownWords,
  readingFailure,
  unavailable,
  writingFailure,
  type FailedRun,
} from './ffmpeg-failure';
import { readProbeReport } from './ffprobe-report';
import { runCommand } from './fluent-command';
import {
  MediaConverter,
  type Conversion,
  type ConversionProgress,
  type MediaProbe,
} from './media-converter.port';
import { beginsLikeMedia } from './media-signature';

/** Reading a header takes milliseconds; a cold network disk may need longer. */
const PROBE_TIMEOUT_MS = 30_000;
const VERSION_TIMEOUT_MS = 10_000;
/** ffmpeg tells its progress twice a second; silence for this long means that it hangs. */
const STALL_MS = 60_000;
/** Files lie about their length: the longest recording on a small machine fits into this alone. */
const BASE_TIMEOUT_MS = 600_000;
/** ffmpeg converts at a hundred times real time; a machine that is slower than real time is ill. */
const TIMEOUT_PER_SECOND_MS = 1000;

const WAV_HEADER_BYTES = 44;
const BYTES_PER_SECOND = 32_000;
/** Encoders pad their last frame; the limit is not meant for that. */
const PADDING_SECONDS = 0.5;
/** Decoding stops here, a little above the limit, so that what is longer shows. */
const MARGIN_SECONDS = 1;

type ConvertRequest = Parameters<MediaConverter['convert']>[0];

/** MediaConverter on ffmpeg, its commands put together by fluent-ffmpeg, and ffprobe. */
export class FfmpegMediaConverter extends MediaConverter {
  constructor(
    private readonly programs: AppConfig['media'],
    private readonly clock: Clock,
  ) {
    super();
  }

  /** By a program run of our own: fluent-ffmpeg's ffprobe can neither be killed nor bounded. */
  async probe(inputPath: string, signal: AbortSignal): Promise<MediaProbe> {
    const run = await this.run(
      this.programs.ffprobePath,
      probeArguments(inputPath),
      PROBE_TIMEOUT_MS,
      signal,
    );
    if (run.exitCode !== 0) {
      throw await unreadable(run, inputPath);
    }
    const probe = readProbeReport(run.stdout);
    return probe.format === 'wav' && probe.durationSeconds !== null
      ? { ...probe, durationSeconds: probe.durationSeconds * (await claimedWavFactor(inputPath)) }
      : probe;
  }

  async convert(
    request: ConvertRequest,
    signal: AbortSignal,
    onProgress: (progress: ConversionProgress) => void,
  ): Promise<Conversion> {
    const { probe, maxSeconds, outputPath, inputPath } = request;
    refuseLonger(probe.durationSeconds ?? 0, maxSeconds);
    const mixing = firstMixing(probe.channels);
    let run = await this.ffmpeg(request, mixing, signal, onProgress);
    const better = betterMixing(mixing, run.stderr);
    if (better !== undefined) {
      run = await this.ffmpeg(request, better, signal, onProgress);
    }
    // Neither exit code 0 nor the probe says how much was decoded; the bytes do.
    const { size } = await stat(outputPath);
    const durationSeconds = Math.max(0, size - WAV_HEADER_BYTES) / BYTES_PER_SECOND;
    if (durationSeconds === 0) {
      throw await unreadable(run, inputPath);
    }
    refuseLonger(durationSeconds, maxSeconds);
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

  private async run(
    program: string,
    args: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ProgramRun> {
    const run = await started(
      runProgram(program, args, { clock: this.clock, totalMs: timeoutMs, signal }),
      signal,
    );
    refuseKilled(run.timedOut, run.killedBy);
    return run;
  }

  /** One pass over the whole input. @returns a run that ended with 0 and wrote all it had */
  private async ffmpeg(
    { inputPath, outputPath, probe, maxSeconds }: ConvertRequest,
    mixing: Mixing,
    signal: AbortSignal,
    onProgress: (progress: ConversionProgress) => void,
  ): Promise<SupervisedRun> {
    const limits = {
      clock: this.clock,
      signal,
      stallMs: STALL_MS,
      totalMs: BASE_TIMEOUT_MS + TIMEOUT_PER_SECOND_MS * (probe.durationSeconds ?? maxSeconds),
    };
    const onLine = (line: string): void => {
      const microseconds = /^out_time_us=(\d+)$/.exec(line)?.[1];
      if (microseconds !== undefined) {
        onProgress({ seconds: Number(microseconds) / 1_000_000 });
      }
    };
    const command = ffmpeg(fileUrl(inputPath))
      .inputOptions(INPUT_OPTIONS)
      .outputOptions(outputOptions(mixing, maxSeconds + MARGIN_SECONDS))
      .output(fileUrl(outputPath));
    const watched = await started(
      runCommand(command, (args) => watchProgram(this.programs.ffmpegPath, args, limits, onLine)),
      signal,
    );
    const run = { ...watched, stderr: ownWords(watched.stderr) };
    refuseKilled(run.timedOut, run.killedBy);
    const notWritten = writingFailure(run.stderr, outputPath);
    if (notWritten !== undefined) {
      throw notWritten;
    }
    if (run.exitCode !== 0) {
      throw await unreadable(run, inputPath);
    }
    return run;
  }
}

/** A program that cannot be started is the installation's fault. */
async function started<T>(run: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await run;
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(error);
  }
}

function refuseKilled(timedOut: boolean, killedBy: NodeJS.Signals | null): void {
  if (timedOut) {
    throw new AppError('conversion_timeout');
  }
  if (killedBy !== null) {
    throw unavailable(new Error(`killed by ${killedBy}`));
  }
}

function refuseLonger(seconds: number, maxSeconds: number): void {
  if (seconds > maxSeconds + PADDING_SECONDS) {
    throw new AppError('too_long', {
      detail: `Recordings may last ${maxSeconds} seconds at most`,
    });
  }
}

/** The program could not read the input. If we cannot either, the storage is at fault. */
async function unreadable(run: FailedRun, inputPath: string): Promise<AppError> {
  try {
    return readingFailure(run, await beginsLikeMedia(inputPath));
  } catch (cause) {
    return new AppError('storage_unavailable', { cause });
  }
}
