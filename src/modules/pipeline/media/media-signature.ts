import { open } from 'node:fs/promises';

/** The longest signature below ends within these bytes. */
const HEAD_BYTES = 16;

const ascii = (text: string, at = 0) => ({ at, bytes: Buffer.from(text, 'latin1') });
const hex = (bytes: string) => ({ at: 0, bytes: Buffer.from(bytes, 'hex') });

/** All parts of one line have to be there. */
const SIGNATURES = [
  [ascii('RIFF'), ascii('WAVE', 8)],
  [ascii('RIFF'), ascii('AVI ', 8)],
  [ascii('riff\x2e\x91\xcf\x11')],
  [ascii('FORM'), ascii('AIF', 8)],
  [ascii('OggS')],
  [ascii('fLaC')],
  [ascii('ID3')],
  [ascii('#!AMR')],
  [ascii('.snd')],
  [ascii('caff')],
  [ascii('FLV')],
  [ascii('moov', 4)],
  [ascii('mdat', 4)],
  [hex('1a45dfa3')], // Matroska, WebM
  [hex('3026b275')], // ASF: WMA, WMV
  [hex('000001ba')], // MPEG program stream
  [hex('0b77')], // AC-3
];

/** Sync words of MP3 and MP2 (with and without checksum) and of AAC; not that of UTF-16, FFFE. */
const FRAME_SYNC = new Set([
  ...[0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xe2],
  ...[0xfd, 0xfc, 0xf5, 0xf4],
  ...[0xf1, 0xf9, 0xf0, 0xf8],
]);

/** Pictures share the container of MP4. */
const PICTURE_BRAND = /^(heic|heix|heim|heis|hevc|mif1|msf1|avif|avis|crx )$/;

/** Does the file begin as sound or video does? Then, if nobody can read it, it is damaged. */
export async function beginsLikeMedia(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return isMediaHead(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

export function isMediaHead(head: Buffer): boolean {
  if (head.toString('latin1', 4, 8) === 'ftyp') {
    return !PICTURE_BRAND.test(head.toString('latin1', 8, 12));
  }
  if (head[0] === 0xff && FRAME_SYNC.has(head[1] ?? 0)) {
    return true;
  }
  return SIGNATURES.some((parts) =>
    parts.every(({ at, bytes }) => head.subarray(at, at + bytes.length).equals(bytes)),
  );
}
