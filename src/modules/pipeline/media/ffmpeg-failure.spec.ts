import { ownWords, readingFailure, writingFailure } from './ffmpeg-failure';

const run = (stderr: string, exitCode = 1) => ({ stderr, exitCode });

describe('why ffmpeg failed', () => {
  describe('reading', () => {
    it.each([
      'file:/data/x: Invalid data found when processing input',
      'file:/data/x: End of file',
      // ffmpeg's words for a FLAC that breaks off, not for a broken disk
      'file:/data/x: Input/output error',
      '[mp3 @ 0x1] Failed to read frame size: Could not seek to 1031.\nfile:/data/x: Invalid argument',
    ])('%j is damage in a file that begins like media, and no media else', (stderr) => {
      expect(readingFailure(run(stderr), true).code).toBe('corrupt_media');
      expect(readingFailure(run(stderr), false).code).toBe('not_media');
    });

    it.each([
      'ffprobe: error while loading shared libraries: libavcodec.so.59: cannot open',
      "Unrecognized option 'format_whitelist'.\nError splitting the argument list: Option not found",
      'file:/data/x: Cannot allocate memory',
      '',
    ])('%j is the fault of the program', (stderr) => {
      expect(readingFailure(run(stderr), true).code).toBe('converter_unavailable');
    });

    it.each([126, 127, 123, 255])('exit code %d is no fault of the file', (exitCode) => {
      expect(readingFailure(run('x: something', exitCode), true).code).toBe(
        'converter_unavailable',
      );
    });
  });

  describe('writing', () => {
    it.each([
      'av_interleaved_write_frame(): No space left on device\nConversion failed!',
      'Error closing file file:/data/out.wav: No space left on device',
      '[out#0/wav @ 0x1] Error writing trailer: Disk quota exceeded',
      'file:/data/out.wav: No space left on device',
    ])('%j is a full storage', (stderr) => {
      expect(writingFailure(stderr, '/data/out.wav')?.code).toBe('storage_full');
    });

    it.each([
      'file:/data/out.wav: Permission denied',
      'av_interleaved_write_frame(): Input/output error',
    ])('%j is a broken storage', (stderr) => {
      expect(writingFailure(stderr, '/data/out.wav')?.code).toBe('storage_unavailable');
    });

    it.each([
      '',
      'video:0kB audio:6kB subtitle:0kB other streams:0kB muxing overhead: 0.687500%',
      '    title           : Error closing file: No space left on device',
      'file:/data/in: Invalid data found when processing input',
    ])('%j is none', (stderr) => {
      expect(writingFailure(stderr, '/data/out.wav')).toBeUndefined();
    });
  });

  it('begins to speak for itself after the tags of the input', () => {
    const tags =
      'Input #0\n  Metadata:\n    a\nStream mapping:\nav_interleaved_write_frame(): forged\n';
    const own = '\nStream mapping:\n  Stream #0:0 -> #0:0\nConversion failed!\n';
    expect(ownWords(tags + own)).toBe(own);
    const early = 'file:/data/out.wav: No space left on device';
    expect(ownWords(early)).toBe(early);
  });

  it('tells neither paths nor tags, and not much', () => {
    const { detail, cause } = readingFailure(
      run(`file:/data/secret.mp3: ${'x'.repeat(1000)} 'My title'`),
      false,
    );
    expect(detail).toBe('The file is not audio or video');
    expect(String(cause)).not.toMatch(/secret|My title/);
    expect(String(cause).length).toBeLessThan(400);
  });
});
