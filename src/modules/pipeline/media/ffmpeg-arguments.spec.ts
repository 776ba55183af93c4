import { firstMixing } from './channel-mix';
import { fileUrl, INPUT_OPTIONS, outputOptions, probeArguments } from './ffmpeg-arguments';

const after = (args: readonly string[], option: string): string | undefined =>
  args[args.indexOf(option) + 1];

describe('the arguments of ffmpeg', () => {
  it.each(['-version', 'http://localhost/a.mp3', 'concat:a|b', '/a b/"c"\n.mp3'])(
    'take %j for a file',
    (path) => {
      expect(fileUrl(path)).toBe(`file:${path}`);
      expect(after(probeArguments(path), '-i')).toBe(`file:${path}`);
    },
  );

  it.each([
    ['ffprobe', probeArguments('a')],
    ['ffmpeg', INPUT_OPTIONS],
  ])('let %s open local files only, and no format that names others', (_program, args) => {
    expect(after(args, '-protocol_whitelist')).toBe('file');
    const formats = after(args, '-format_whitelist')?.split(',') ?? [];
    expect(formats).toContain('ogg');
    for (const script of ['hls', 'applehttp', 'concat', 'sdp', 'dash', 'rtsp', 'image2', 'lavfi']) {
      expect(formats).not.toContain(script);
    }
  });

  it('never let ffmpeg wait for a key or ask before it overwrites', () => {
    expect(INPUT_OPTIONS).toEqual(expect.arrayContaining(['-nostdin', '-y']));
  });

  it('stop decoding at the limit', () => {
    expect(after(outputOptions(firstMixing(1), 61), '-t')).toBe('61');
  });

  it('ask ffprobe for no tags but the length', () => {
    expect(after(probeArguments('a'), '-show_entries')).not.toMatch(/tags(?!=DURATION)/);
  });
});
