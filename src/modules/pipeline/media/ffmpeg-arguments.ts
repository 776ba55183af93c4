/**
 * Containers that hold sound themselves. What is not listed is refused before it is read: playlists
 * (m3u8, ffconcat, SDP, DASH) would make ffmpeg open other files and addresses, whatever the protocol
 * whitelist says.
 */
const FORMATS = [
  'aac',
  'ac3',
  'aiff',
  'amr',
  'amrnb',
  'amrwb',
  'asf',
  'au',
  'avi',
  'caf',
  'flac',
  'flv',
  'gsm',
  'matroska',
  'webm',
  'mov',
  'mp4',
  'm4a',
  '3gp',
  '3g2',
  'mp3',
  'mpeg',
  'mpegts',
  'ogg',
  'opus',
  'w64',
  'wav',
].join(',');

/** Before every input: only local files, only containers, no reference out of a container. */
export const CLOSED_INPUT = ['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS];

/** As a URL of the file protocol no path can be taken for an option or another protocol. */
export const asInput = (path: string): string => `file:${path}`;

export type Downmix = 'mix' | 'left' | 'right';

const PAN: Readonly<Record<Downmix, readonly string[]>> = {
  mix: [],
  left: ['pan=mono|c0=c0'],
  right: ['pan=mono|c0=c1'],
};

/** 16 kHz mono s16le; gaps in the timeline are filled, so that times in the audio are true. */
export function conversionOptions(downmix: Downmix, maxSeconds: number): string[] {
  return [
    ...['-map', '0:a:0', '-vn', '-sn', '-dn'],
    ...['-af', [...PAN[downmix], 'aresample=async=1:first_pts=0'].join(',')],
    ...['-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le'],
    ...['-t', String(maxSeconds)],
    ...['-map_metadata', '-1', '-bitexact', '-f', 'wav'],
  ];
}

/** Loudness of left, right and their sum, one report each, in this order. */
export function levelArguments(inputPath: string): string[] {
  const stats = 'astats=measure_perchannel=none:measure_overall=RMS_level';
  const graph = [
    '[0:a:0]asplit=3[a][b][c]',
    `[a]pan=mono|c0=c0,${stats}[left]`,
    `[b]pan=mono|c0=c1,${stats}[right]`,
    `[c]pan=mono|c0=0.5*c0+0.5*c1,${stats}[sum]`,
  ].join(';');
  const sinks = ['left', 'right', 'sum'].flatMap((name) => ['-map', `[${name}]`]);
  return [
    ...['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'info'],
    ...CLOSED_INPUT,
    ...['-i', asInput(inputPath), '-filter_complex', graph, ...sinks],
    ...['-f', 'null', '-'],
  ];
}
