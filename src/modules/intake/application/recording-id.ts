import { v7 } from 'uuid';

/** UUIDv7: rises with time, also within one millisecond, so the order of ids is the order of arrival. */
export const newRecordingId = (): string => v7();

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Could this be the id of a recording? Anything else need not be looked up. */
export const isRecordingId = (text: string): boolean => SHAPE.test(text);
