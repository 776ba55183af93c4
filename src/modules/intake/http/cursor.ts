import { AppError } from '../../../common/errors/app-error';
import { isRecordingId } from '../application/recording-id';

/** The place after which a list goes on, opaque to clients. */
export const encodeCursor = (id: string): string => Buffer.from(id).toString('base64url');

/** @throws AppError `invalid_parameter` */
export function decodeCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (!isRecordingId(id)) {
    throw new AppError('invalid_parameter', {
      detail: 'cursor must be a next_cursor from an earlier answer',
      parameter: 'cursor',
    });
  }
  return id;
}
