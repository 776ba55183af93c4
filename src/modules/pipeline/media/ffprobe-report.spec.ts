import { readProbeReport } from './ffprobe-report';

const read = (streams: object[], format: object = {}) =>
  readProbeReport(JSON.stringify({ streams, format }));

const audio = (more: object = {}) => ({
  codec_type: 'audio',
  codec_name: 'aac',
  channels: 2,
  ...more,
});
const video = { codec_type: 'video', codec_name: 'h264' };

describe('the report of ffprobe', () => {
  it('tells codec, container and channels of the first audio stream', () => {
    const probe = read([video, audio(), audio({ codec_name: 'opus', channels: 6 })], {
      format_name: 'matroska,webm',
      duration: '4.5',
    });
    expect(probe).toEqual({
      durationSeconds: 4.5,
      channels: 2,
      startSeconds: 0,
      codec: 'aac',
      format: 'matroska,webm',
    });
  });

  it('counts the start from the zero of the container', () => {
    const streams = [audio({ start_time: '12.5', duration: '5' })];
    expect(read(streams, { format_name: 'ogg', start_time: '10' })).toMatchObject({
      startSeconds: 2.5,
      durationSeconds: 7.5,
    });
  });

  it('knows no start in a transport stream, where ffmpeg begins with the sound', () => {
    const streams = [audio({ start_time: '4.5', duration: '5' })];
    expect(read(streams, { format_name: 'mpegts', start_time: '1.5' })).toMatchObject({
      startSeconds: 0,
      durationSeconds: 5,
    });
  });

  it('knows no start before zero', () => {
    expect(read([audio({ start_time: '-0.007' })]).startSeconds).toBe(0);
  });

  it('takes the length of the sound, not that of a longer video', () => {
    expect(read([audio({ duration: '5' })], { duration: '20' }).durationSeconds).toBe(5);
    const tagged = audio({ tags: { DURATION: '01:02:05.008000000' } });
    expect(read([tagged], { duration: '9000' }).durationSeconds).toBeCloseTo(3725.008, 6);
  });

  it.each([{}, { duration: 'N/A' }, { duration: '0' }, { duration: '-1' }])(
    'knows no length from %j',
    (format) => {
      expect(read([audio()], format).durationSeconds).toBeNull();
    },
  );

  it.each(['amr', 'aac', 'ac3'])('believes no guess of the length of %s', (format_name) => {
    const format = { format_name, duration: '9.2' };
    expect(read([audio({ duration: '9.2' })], format).durationSeconds).toBeNull();
  });

  it('refuses a container without sound as no_audio_stream', () => {
    expect(() => read([video])).toThrow(expect.objectContaining({ code: 'no_audio_stream' }));
  });

  it('refuses a container with nothing in it as not_media', () => {
    expect(() => read([])).toThrow(expect.objectContaining({ code: 'not_media' }));
  });

  it.each(['', '{"streams": [', '[]', '{"streams": 1}'])(
    'holds the program to blame for %j',
    (json) => {
      expect(() => readProbeReport(json)).toThrow(
        expect.objectContaining({ code: 'converter_unavailable' }),
      );
    },
  );
});
