import type { FfmpegCommand } from 'fluent-ffmpeg';

/**
 * Lets fluent-ffmpeg put a command together and `run` start it, in place of fluent-ffmpeg itself, which
 * (2.1.3, archived) cannot run a program safely:
 * - a program that cannot be started (gone, no processes left) throws in an event handler of its own and
 *   takes our process down;
 * - a listener for `progress` makes it probe the input by a bare `ffprobe`, without our whitelists;
 * - it asks ffmpeg for its formats and encoders first, in children nobody can kill, and `kill()` does
 *   nothing until they have answered;
 * - it keeps a line of stderr whatever its length, and the program's path for all commands together.
 */
export function runCommand<T>(
  command: FfmpegCommand,
  run: (args: readonly string[]) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    Object.assign(command, {
      availableFormats: answer({ wav: { canMux: true } }),
      availableEncoders: answer({}),
      _spawnFfmpeg: (args: readonly string[]) => void run(args).then(resolve, reject),
    });
    command.on('error', reject).run();
  });
}

const answer =
  (capabilities: object) =>
  (callback: (error: null, capabilities: object) => void): void =>
    callback(null, capabilities);
