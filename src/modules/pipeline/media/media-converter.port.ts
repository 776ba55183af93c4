/** What a probe of the container says. It is a claim of the file, not a measurement. */
export interface MediaProbe {
  /** Seconds, or null when the container does not say. */
  readonly durationSeconds: number | null;
  /** Channels of the first audio stream. */
  readonly channels: number;
  /** Seconds by which the audio starts after the container's zero; 0 when it does not say. */
  readonly startSeconds: number;
  /** Codec and container as ffmpeg names them, closed word sets, safe to log. */
  readonly codec: string;
  readonly format: string;
}

export interface ConversionProgress {
  /** Seconds of audio written so far. */
  readonly seconds: number;
}

export interface Conversion {
  /** Measured seconds of the audio written. */
  readonly durationSeconds: number;
}

/**
 * Turns what people send into what engines hear: 16 kHz, mono, signed 16-bit PCM in a WAV file with a
 * canonical 44-byte header. Only local files go in; nothing a file names is ever opened.
 */
export abstract class MediaConverter {
  /**
   * @throws AppError `not_media`, `no_audio_stream`, `corrupt_media`, `conversion_timeout`,
   * `converter_unavailable`, `storage_unavailable`; the signal's reason when aborted
   */
  abstract probe(inputPath: string, signal: AbortSignal): Promise<MediaProbe>;

  /**
   * Writes `outputPath`; on failure or abort the child is killed and the caller removes the file.
   * @throws as `probe`, and `too_long` (claimed or decoded more than `maxSeconds`), `storage_full`
   */
  abstract convert(
    request: {
      readonly inputPath: string;
      readonly outputPath: string;
      readonly probe: MediaProbe;
      readonly maxSeconds: number;
    },
    signal: AbortSignal,
    onProgress: (progress: ConversionProgress) => void,
  ): Promise<Conversion>;

  /** Are the programs there and do they run? @throws AppError `converter_unavailable` */
  abstract check(): Promise<void>;
}
