/** One QuickTime atom. */
function atom(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** A movie that holds nothing but the address of another one. */
export function referenceMovie(address: string): Buffer {
  const url = Buffer.from(`${address}\0`);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(url.length);
  const reference = atom('rdrf', Buffer.alloc(4), Buffer.from('url '), size, url);
  return atom('moov', atom('rmra', atom('rmda', reference)));
}

/** `movie` (one track) with its data reference turned from "in this file" into an alias of another file. */
export function withExternalData(movie: Buffer, path: string): Buffer {
  const start = movie.indexOf('dref') - 4;
  const end = start + movie.readUInt32BE(start);
  const reference = atom('dref', Buffer.from('0000000000000001', 'hex'), aliasOf(path));
  const before = Buffer.from(movie.subarray(0, start));
  for (const parent of ['moov', 'trak', 'mdia', 'minf', 'dinf']) {
    const at = before.lastIndexOf(parent) - 4;
    before.writeUInt32BE(before.readUInt32BE(at) + reference.length - (end - start), at);
  }
  return Buffer.concat([before, reference, movie.subarray(end)]);
}

/** A Macintosh alias: one level up, one level down, and the absolute path. */
function aliasOf(path: string): Buffer {
  const fixed = Buffer.alloc(150);
  fixed.writeUInt16BE(1, 130);
  fixed.writeUInt16BE(1, 132);
  const text = Buffer.from(path.length % 2 === 0 ? path : `${path}\0`);
  const field = Buffer.alloc(4);
  field.writeUInt16BE(2, 0);
  field.writeUInt16BE(text.length, 2);
  return atom('alis', Buffer.alloc(4), fixed, field, text, Buffer.from('ffff0000', 'hex'));
}
