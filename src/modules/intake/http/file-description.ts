/** What the sender claims about the file: shown again, never used as a path or believed. */

const LONGEST_NAME = 1024;
const UNNAMED = 'recording';
const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * The sender's name of the file. Browsers and fetch write quotes and line ends as %22, %0D and %0A
 * (WHATWG form data); they are turned back. A NUL or half a surrogate pair cannot be stored.
 */
export function cleanFilename(name: string | undefined): string {
  const text = (name ?? '')
    .replaceAll('%22', '"')
    .replace(/%0d/gi, '\r')
    .replace(/%0a/gi, '\n')
    .replaceAll('\u0000', '')
    .toWellFormed();
  const cut = [...text].slice(0, LONGEST_NAME).join('');
  return cut.trim() === '' ? UNNAMED : cut;
}

export function cleanMediaType(type: string | undefined): string {
  const bare = (type ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(bare)
    ? bare
    : UNKNOWN_TYPE;
}

/**
 * The type under which stored audio is handed out: anything but audio and video could be run by a
 * browser that opens it.
 */
export function servedMediaType(type: string): string {
  return /^(audio|video)\//.test(type) ? type : UNKNOWN_TYPE;
}

/** RFC 6266 with the name in RFC 8187 encoding; the fallback is plain ASCII. */
export function attachmentHeader(name: string): string {
  const fallback = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${fallback}"; filename*=UTF-8''${encoded}`;
}
