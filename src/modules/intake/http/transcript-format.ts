import accepts from 'accepts';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../../common/errors/app-error';
import { asSrt, asVtt, type Transcript } from '../../pipeline';

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'vtt'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

const MEDIA_TYPES: Readonly<Record<TranscriptFormat, string>> = {
  json: 'application/json',
  text: 'text/plain',
  srt: 'application/x-subrip',
  vtt: 'text/vtt',
};

/** The parameter wins; else the Accept header; else JSON. @throws AppError `invalid_parameter` */
export function chooseFormat(
  parameter: string | undefined,
  request: IncomingMessage,
): TranscriptFormat {
  if (parameter !== undefined) {
    const format = TRANSCRIPT_FORMATS.find((each) => each === parameter);
    if (format === undefined) {
      throw new AppError('invalid_parameter', {
        detail: `format must be one of ${TRANSCRIPT_FORMATS.join(', ')}`,
        parameter: 'format',
      });
    }
    return format;
  }
  const accepted = accepts(request).type(Object.values(MEDIA_TYPES));
  return TRANSCRIPT_FORMATS.find((format) => MEDIA_TYPES[format] === accepted) ?? 'json';
}

export function render(
  transcript: Transcript,
  format: TranscriptFormat,
): { readonly contentType: string; readonly body: string } {
  const contentType = `${MEDIA_TYPES[format]}; charset=utf-8`;
  switch (format) {
    case 'json':
      return { contentType, body: JSON.stringify(transcript) };
    case 'text':
      return { contentType, body: transcript.text === '' ? '' : `${transcript.text}\n` };
    case 'srt':
      return { contentType, body: asSrt(transcript) };
    case 'vtt':
      return { contentType, body: asVtt(transcript) };
  }
}
