import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { AppError, asAppError } from '../../../common/errors/app-error';
import type { BlobStore, StagedBlob } from '../../../common/storage/blob-store.port';
import { ClosingBoundary } from './closing-boundary';
import { cleanFilename, cleanMediaType } from './file-description';

const FIELD_NAMES = ['language', 'prompt', 'callback_url'] as const;
export type UploadField = (typeof FIELD_NAMES)[number];

const LARGEST_FIELD_BYTES = 16_384;

export interface Upload {
  readonly staged: StagedBlob;
  readonly filename: string;
  readonly mediaType: string;
  readonly fields: Readonly<Partial<Record<UploadField, string>>>;
}

/**
 * Reads a multipart body to its very end, the file streamed into the blob store's staging place.
 * Nothing is accepted before the closing boundary was seen: a body that breaks off is never taken for
 * a shorter recording. On failure nothing stays behind.
 * @throws AppError `unsupported_media_type`, `missing_file`, `payload_too_large`,
 * `invalid_parameter`, `storage_full`, `storage_unavailable`
 */
export async function readUpload(
  request: FastifyRequest,
  blobs: BlobStore,
  maxBytes: number,
): Promise<Upload> {
  const boundary = ClosingBoundary.watch(request);
  const fields: Partial<Record<UploadField, string>> = {};
  let upload: Omit<Upload, 'fields'> | undefined;
  try {
    const parts = request.parts({
      preservePath: true,
      limits: {
        fileSize: maxBytes,
        fieldSize: LARGEST_FIELD_BYTES,
        files: 2, // a second one is refused below, in our own words
        fields: FIELD_NAMES.length * 2,
      },
    });
    for await (const part of parts) {
      if (part.type === 'file') {
        refuseFile(part, upload !== undefined);
        upload = await stageFile(part, blobs, maxBytes);
      } else {
        keepField(part, fields);
      }
    }
    boundary.requireSeen();
    if (upload === undefined) {
      throw new AppError('missing_file');
    }
    return { ...upload, fields };
  } catch (error) {
    await upload?.staged.discard();
    throw asUploadFailure(error, maxBytes);
  }
}

function refuseFile(part: MultipartFile, haveOne: boolean): void {
  if (part.fieldname !== 'file') {
    throw new AppError('invalid_parameter', { detail: 'The file belongs in the part "file"' });
  }
  if (haveOne) {
    throw new AppError('invalid_parameter', { detail: 'There may be only one file' });
  }
}

async function stageFile(
  part: MultipartFile,
  blobs: BlobStore,
  maxBytes: number,
): Promise<Omit<Upload, 'fields'>> {
  const staged = await blobs.stage(part.file);
  if (part.file.truncated) {
    await staged.discard();
    throw tooLarge(maxBytes);
  }
  return {
    staged,
    filename: cleanFilename(part.filename),
    mediaType: cleanMediaType(part.mimetype),
  };
}

function keepField(part: Multipart, fields: Partial<Record<UploadField, string>>): void {
  const name = FIELD_NAMES.find((each) => each === part.fieldname);
  if (part.fieldname === 'file') {
    throw new AppError('invalid_parameter', { detail: 'The part "file" must have a filename' });
  }
  if (name === undefined) {
    throw new AppError('invalid_parameter', {
      detail: `The form takes file, ${FIELD_NAMES.join(', ')}`,
    });
  }
  if (part.type === 'field' && part.valueTruncated) {
    throw new AppError('invalid_parameter', { detail: `${name} is too long`, parameter: name });
  }
  if (part.type !== 'field' || typeof part.value !== 'string') {
    throw new AppError('invalid_parameter', {
      detail: `${name} must be a text part`,
      parameter: name,
    });
  }
  if (fields[name] !== undefined) {
    throw new AppError('invalid_parameter', {
      detail: `${name} may be given once`,
      parameter: name,
    });
  }
  fields[name] = part.value;
}

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', { detail: `A file may have ${maxBytes} bytes at most` });

/** Failures of the multipart parser in our words. */
function asUploadFailure(error: unknown, maxBytes: number): AppError {
  if (error instanceof AppError) {
    return error;
  }
  switch ((error as { code?: unknown }).code) {
    case 'FST_INVALID_MULTIPART_CONTENT_TYPE':
      return new AppError('unsupported_media_type');
    case 'FST_REQ_FILE_TOO_LARGE':
      return tooLarge(maxBytes);
    case 'FST_FILES_LIMIT':
      return new AppError('invalid_parameter', { detail: 'There may be only one file' });
    case 'FST_FIELDS_LIMIT':
    case 'FST_PARTS_LIMIT':
    case 'FST_PROTO_VIOLATION':
      return new AppError('invalid_parameter', {
        detail: `The form takes file, ${FIELD_NAMES.join(', ')}`,
      });
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return ClosingBoundary.missing();
    default:
      // Everything else the parser throws is about the body's shape; storage speaks in AppErrors.
      return asAppError(error, 'invalid_parameter');
  }
}
