import { filterChain, type Mixing } from './channel-mix';

/**
 * Containers that hold sound themselves. What is not listed is refused before it is read: playlists
 * (m3u8, ffconcat, SDP, DASH) would make ffmpeg open other files and addresses, whatever the protocol
 * whitelist says. Raw GSM is left out: ffmpeg takes any bytes for it when a name ends so.
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

/** Before every input: only local files, only containers that hold sound themselves. */
const CLOSED_INPUT = ['-protocol_whitelist', 'file', '-format_whitelist', FORMATS];

/**
 * Largest single allocation, bytes; the whole program then stays near 300 MB. A gap in the timeline is
 * filled in memory: a file of 36 KB that claims three hours between two words took 3.2 GB. Longer gaps
 * are filled in several pieces. The index of a day of video needs about a hundred million.
 */
const BOUNDED_MEMORY = ['-max_alloc', String(128 * 1024 * 1024)];

/** As a URL of the file protocol no path can be taken for an option or another protocol. */
export const fileUrl = (path: string): string => `file:${path}`;

/** Only what is read: tags may be megabytes and are nobody's business. */
const PROBED = [
  'format=format_name,duration,start_time',
  'stream=codec_type,codec_name,channels,start_time,duration',
  'stream_tags=DURATION',
].join(':');

export const probeArguments = (inputPath: string): string[] => [
  ...['-v', 'error', ...BOUNDED_MEMORY, ...CLOSED_INPUT, '-of', 'json', '-show_entries', PROBED],
  ...['-i', fileUrl(inputPath)],
];

/**
 * The levels are reported at `info`; progress goes to a pipe of its own. Frames that cannot be decoded
 * are no failure, however many: an AMR call that is mostly pauses has more of them than others.
 */
export const INPUT_OPTIONS = [
  ...['-hide_banner', '-nostdin', '-y', '-nostats', '-loglevel', 'info', '-progress', 'pipe:1'],
  ...['-max_error_rate', '1'],
  ...BOUNDED_MEMORY,
  ...CLOSED_INPUT,
];

/** 16 kHz mono s16le with a canonical 44-byte header: nothing but the sound is taken over. */
export const outputOptions = (mixing: Mixing, maxSeconds: number): string[] => [
  ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-af', filterChain(mixing)],
  ...['-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le', '-t', String(maxSeconds)],
  ...['-map_metadata', '-1', '-bitexact', '-f', 'wav'],
];
