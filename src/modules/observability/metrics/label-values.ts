import { isErrorCode, type ErrorCode } from '../../../common/errors/error-registry';

/** Why a reply stays undelivered. */
export const UNDELIVERED_REASONS = [
  'intake_down',
  'recipient_unnamed',
  'rejected',
  'unreachable',
  'interrupted',
] as const;

/** Refusals that are shown at 0 before they happen: what the request itself can be at fault for, and a full disk. */
export const INTAKE_REFUSALS: readonly (ErrorCode | 'stranger')[] = [
  'stranger',
  'unauthorized',
  'payload_too_large',
  'unsupported_media_type',
  'empty_file',
  'missing_file',
  'invalid_parameter',
  'idempotency_conflict',
  'storage_full',
  'storage_unavailable',
  'shutting_down',
];

/** A reason as a label: the set stays closed, whatever an intake tells. */
export const refusalReason = (reason: string): ErrorCode | 'stranger' =>
  reason === 'stranger' || isErrorCode(reason) ? reason : 'internal';
