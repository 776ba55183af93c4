import ffmpeg from 'fluent-ffmpeg';
import { runCommand } from './fluent-command';

describe('a command of fluent-ffmpeg', () => {
  const command = (format = 'wav'): ffmpeg.FfmpegCommand =>
    ffmpeg('file:in put.mp3')
      .inputOptions(['-nostdin', '-y'])
      .outputOptions(['-af', 'pan=mono|c0=c0', '-f', format])
      .output('file:out.wav');

  it('is run by us, with its arguments in order and untouched', async () => {
    const run = jest.fn<Promise<string>, [readonly string[]]>().mockResolvedValue('done');
    await expect(runCommand(command(), run)).resolves.toBe('done');
    expect(run.mock.calls).toEqual([
      [
        [
          ...['-nostdin', '-y', '-i', 'file:in put.mp3'],
          ...['-af', 'pan=mono|c0=c0', '-f', 'wav', 'file:out.wav'],
        ],
      ],
    ]);
  });

  it('starts no program of its own', async () => {
    // fluent-ffmpeg would ask this one for its formats first, and fail.
    const prepared = command().setFfmpegPath('/nonexistent/ffmpeg');
    await expect(runCommand(prepared, async () => 'done')).resolves.toBe('done');
  });

  it('fails as its run fails', async () => {
    const error = new Error('no such program');
    await expect(runCommand(command(), () => Promise.reject(error))).rejects.toBe(error);
  });

  it('fails when it cannot be put together', async () => {
    await expect(runCommand(command('nothing'), async () => 'done')).rejects.toThrow(
      'Output format nothing is not available',
    );
  });
});
