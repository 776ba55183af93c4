import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How one request goes wrong. */
export type S3Fault =
  | { readonly kind: 'status'; readonly status: number; readonly code: string }
  /** The connection is reset before any answer. */
  | { readonly kind: 'reset' }
  /** No answer, ever. */
  | { readonly kind: 'hang' }
  /** The body breaks off after so many bytes, by closing the connection. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The body stops after so many bytes, and the connection stays open. */
  | { readonly kind: 'stall'; readonly afterBytes: number };

interface Rule {
  readonly fault: S3Fault;
  readonly operation: S3Operation;
  left: number;
}

export type S3Operation =
  | 'PutObject'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'HeadBucket'
  | 'ListObjectsV2'
  | 'ListMultipartUploads'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload';

interface StoredObject {
  readonly body: Buffer;
  readonly at: Date;
}

interface UnfinishedUpload {
  readonly key: string;
  readonly at: Date;
  readonly parts: Map<number, Buffer>;
}

interface Call {
  readonly operation: S3Operation;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly range: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(code);
  }
}

/** The part of S3 that we use, path style, on a real loopback port; one bucket; misbehaves when told. */
export class FakeS3 {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, UnfinishedUpload>();
  /** Every request that arrived, also those that were answered with a fault. */
  readonly calls: S3Operation[] = [];
  /** The largest page of a listing. */
  pageSize = 1000;
  private readonly rules: Rule[] = [];
  private readonly server: Server;

  private constructor(private bucket: string) {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        const refusal = error instanceof Refusal ? error : new Refusal(500, 'InternalError');
        send(response, request, failureAnswer(refusal.status, refusal.code));
      });
    });
  }

  static async start(bucket = 'recordings'): Promise<FakeS3> {
    const fake = new FakeS3(bucket);
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  /** Lets the next `times` requests of this kind go wrong. */
  misbehave(operation: S3Operation, fault: S3Fault, times = Infinity): void {
    this.rules.push({ operation, fault, left: times });
  }

  /** From now on every request finds no such bucket. */
  loseBucket(): void {
    this.bucket = 'another-bucket';
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request, this.bucket);
    this.calls.push(call.operation);
    const fault = this.takeFault(call.operation);
    switch (fault?.kind) {
      case undefined:
        send(response, request, this.answer(call));
        return;
      case 'status':
        send(response, request, failureAnswer(fault.status, fault.code));
        return;
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'hang':
        return;
      case 'cut':
      case 'stall': {
        const { status, headers, body } = this.answer(call);
        const whole = Buffer.from(body ?? '');
        response.writeHead(status, { ...headers, 'content-length': whole.length });
        response.write(whole.subarray(0, fault.afterBytes), () => {
          if (fault.kind === 'cut') {
            request.socket.destroy();
          }
        });
      }
    }
  }

  private takeFault(operation: S3Operation): S3Fault | undefined {
    const rule = this.rules.find((each) => each.operation === operation && each.left > 0);
    if (rule !== undefined) {
      rule.left -= 1;
    }
    return rule?.fault;
  }

  private answer(call: Call): Answer {
    switch (call.operation) {
      case 'HeadBucket':
        return { status: 200 };
      case 'PutObject':
        this.objects.set(call.key, { body: call.body, at: new Date() });
        return { status: 200, headers: { etag: etagOf(call.body) } };
      case 'GetObject':
      case 'HeadObject':
        return objectAnswer(this.objectAt(call.key), call.range);
      case 'DeleteObject':
        this.objects.delete(call.key);
        return { status: 204 };
      case 'ListObjectsV2':
        return this.listObjects(call.query);
      case 'ListMultipartUploads':
        return this.listUploads(call.query);
      case 'CreateMultipartUpload': {
        const id = randomUUID();
        this.uploads.set(id, { key: call.key, at: new Date(), parts: new Map() });
        return xml('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`);
      }
      case 'UploadPart':
        this.uploadOf(call).parts.set(Number(call.query.get('partNumber')), call.body);
        return { status: 200, headers: { etag: etagOf(call.body) } };
      case 'CompleteMultipartUpload':
        return this.complete(call);
      case 'AbortMultipartUpload':
        this.uploadOf(call);
        this.uploads.delete(call.query.get('uploadId') ?? '');
        return { status: 204 };
    }
  }

  private objectAt(key: string): StoredObject {
    const object = this.objects.get(key);
    if (object === undefined) {
      throw new Refusal(404, 'NoSuchKey');
    }
    return object;
  }

  private uploadOf(call: Call): UnfinishedUpload {
    const upload = this.uploads.get(call.query.get('uploadId') ?? '');
    if (upload?.key !== call.key) {
      throw new Refusal(404, 'NoSuchUpload');
    }
    return upload;
  }

  private complete(call: Call): Answer {
    const { parts } = this.uploadOf(call);
    const wanted = [...call.body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)];
    const pieces = wanted.map(([, number]) => parts.get(Number(number)));
    const present = pieces.filter((piece) => piece !== undefined);
    if (present.length === 0 || present.length !== pieces.length) {
      throw new Refusal(400, 'InvalidPart');
    }
    if (present.slice(0, -1).some((piece) => piece.length < 5 * 1024 * 1024)) {
      throw new Refusal(400, 'EntityTooSmall');
    }
    this.objects.set(call.key, { body: Buffer.concat(present), at: new Date() });
    this.uploads.delete(call.query.get('uploadId') ?? '');
    return xml('CompleteMultipartUploadResult', `<Key>${call.key}</Key>`);
  }

  private listObjects(query: URLSearchParams): Answer {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && key > after)
      .sort();
    const page = keys.slice(0, this.pageSize);
    const more = keys.length > page.length;
    const contents = page.map((key) => {
      const { body, at } = this.objectAt(key);
      return `<Contents><Key>${key}</Key><Size>${body.length}</Size><LastModified>${at.toISOString()}</LastModified></Contents>`;
    });
    const next = more ? `<NextContinuationToken>${page.at(-1) ?? ''}</NextContinuationToken>` : '';
    return xml('ListBucketResult', `<IsTruncated>${more}</IsTruncated>${next}${contents.join('')}`);
  }

  private listUploads(query: URLSearchParams): Answer {
    const prefix = query.get('prefix') ?? '';
    const after = `${query.get('key-marker') ?? ''} ${query.get('upload-id-marker') ?? ''}`;
    const found = [...this.uploads]
      .filter(([id, { key }]) => key.startsWith(prefix) && `${key} ${id}` > after)
      .sort(([idA, a], [idB, b]) => (`${a.key} ${idA}` < `${b.key} ${idB}` ? -1 : 1));
    const page = found.slice(0, this.pageSize);
    const last = page.at(-1);
    const entries = page.map(
      ([id, { key, at }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${at.toISOString()}</Initiated></Upload>`,
    );
    const next =
      last === undefined
        ? ''
        : `<NextKeyMarker>${last[1].key}</NextKeyMarker><NextUploadIdMarker>${last[0]}</NextUploadIdMarker>`;
    return xml(
      'ListMultipartUploadsResult',
      `<IsTruncated>${found.length > page.length}</IsTruncated>${next}${entries.join('')}`,
    );
  }
}

async function readCall(request: IncomingMessage, bucket: string): Promise<Call> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) {
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  assertSigned(request, body);
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const [, bucketName, ...words] = pathname.split('/').map(decodeURIComponent);
  const key = words.join('/');
  if (bucketName !== bucket) {
    throw new Refusal(404, 'NoSuchBucket');
  }
  return {
    operation: operationOf(request.method ?? '', key, query),
    key,
    query,
    body,
    range: request.headers.range,
  };
}

/** The signature itself is not checked, but that there is one and that it covers these very bytes. */
function assertSigned(request: IncomingMessage, body: Buffer): void {
  if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') !== true) {
    throw new Refusal(403, 'AccessDenied');
  }
  const sha256 = createHash('sha256').update(body).digest('hex');
  if (request.headers['x-amz-content-sha256'] !== sha256) {
    throw new Refusal(400, 'XAmzContentSHA256Mismatch');
  }
}

function operationOf(method: string, key: string, query: URLSearchParams): S3Operation {
  const part = query.has('uploadId');
  const found: Record<string, S3Operation> =
    key === ''
      ? {
          HEAD: 'HeadBucket',
          GET: query.has('uploads') ? 'ListMultipartUploads' : 'ListObjectsV2',
        }
      : {
          GET: 'GetObject',
          HEAD: 'HeadObject',
          PUT: part ? 'UploadPart' : 'PutObject',
          POST: part ? 'CompleteMultipartUpload' : 'CreateMultipartUpload',
          DELETE: part ? 'AbortMultipartUpload' : 'DeleteObject',
        };
  const operation = found[method];
  if (operation === undefined) {
    throw new Refusal(405, 'MethodNotAllowed');
  }
  return operation;
}

function objectAnswer({ body, at }: StoredObject, range: string | undefined): Answer {
  const headers = { etag: etagOf(body), 'last-modified': at.toUTCString() };
  const match = /^bytes=(\d+)-(\d+)$/.exec(range ?? '');
  if (match === null) {
    return { status: 200, headers, body };
  }
  const start = Number(match[1]);
  const end = Math.min(Number(match[2]), body.length - 1);
  if (start >= body.length) {
    throw new Refusal(416, 'InvalidRange');
  }
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${start}-${end}/${body.length}` },
    body: body.subarray(start, end + 1),
  };
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function xml(root: string, content: string): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`,
  };
}

function failureAnswer(status: number, code: string): Answer {
  return { ...xml('Error', `<Code>${code}</Code><Message>${code}</Message>`), status };
}

function send(response: ServerResponse, request: IncomingMessage, answer: Answer): void {
  const body = Buffer.from(answer.body ?? '');
  // A HEAD answer tells the length of the object, and a 204 has none.
  const length = answer.status === 204 ? {} : { 'content-length': body.length };
  response.writeHead(answer.status, { ...answer.headers, ...length });
  response.end(request.method === 'HEAD' ? undefined : body);
}
