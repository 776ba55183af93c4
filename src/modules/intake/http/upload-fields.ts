import { AppError } from '../../../common/errors/app-error';
import type { UploadField } from './multipart-upload';

const LONGEST_PROMPT = 4096;

export interface UploadParameters {
  readonly language: string | null;
  readonly prompt: string | null;
}

/** Checks the text parts of an upload. An empty one counts as not given. @throws AppError `invalid_parameter` */
export function uploadParameters(
  fields: Readonly<Partial<Record<UploadField, string>>>,
): UploadParameters {
  if (given(fields.callback_url) !== null) {
    throw new AppError('invalid_parameter', {
      detail: 'callback_url: this server has no callbacks',
      parameter: 'callback_url',
    });
  }
  return { language: language(given(fields.language)), prompt: prompt(given(fields.prompt)) };
}

const given = (value: string | undefined): string | null =>
  value === undefined || value.trim() === '' ? null : value.trim();

/** ISO 639, with or without a region, which is dropped: engines know languages only. */
function language(value: string | null): string | null {
  if (value === null) {
    return null;
  }
  const match = /^([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*$/i.exec(value);
  if (match?.[1] === undefined) {
    throw new AppError('invalid_parameter', {
      detail: 'language must be a language code such as en or ru',
      parameter: 'language',
    });
  }
  return match[1].toLowerCase();
}

function prompt(value: string | null): string | null {
  if (value !== null && value.length > LONGEST_PROMPT) {
    throw new AppError('invalid_parameter', {
      detail: `prompt may have ${LONGEST_PROMPT} characters at most`,
      parameter: 'prompt',
    });
  }
  return value?.replaceAll('\u0000', '').toWellFormed() ?? null;
}

/** @throws AppError `invalid_parameter` */
export function idempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) {
    return null;
  }
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw new AppError('invalid_parameter', {
      detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
      parameter: 'Idempotency-Key',
    });
  }
  return header;
}
