import { Injectable, type PipeTransform } from '@nestjs/common';
import { AppError } from '../../../common/errors/app-error';
import { isRecordingId } from '../application/recording-id';

/** An id of another shape cannot exist: answered without asking the database. */
@Injectable()
export class RecordingIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    const id = value.toLowerCase(); // RFC 9562: the case of a UUID means nothing
    if (!isRecordingId(id)) {
      throw new AppError('not_found', { detail: 'There is no recording with this id' });
    }
    return id;
  }
}
