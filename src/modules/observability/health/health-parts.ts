import type { AppConfig } from '../../../common/config/app-config';
import type { Clock } from '../../../common/clock/clock';
import { AppError } from '../../../common/errors/app-error';
import type { BlobStore } from '../../../common/storage/blob-store.port';
import type { JobRepository, MediaConverter } from '../../pipeline';
import type { Recognizer } from '../../recognition';
import { BoundedReading } from '../bounded-reading';
import type { HealthPart } from './readiness';

/** These checks start child processes; a probe may come every second. */
const CHILDREN_FRESH_MS = 30_000;
/** This check writes, on S3 over the network; anybody may probe as often as he likes. */
const STORAGE_FRESH_MS = 1000;

export interface HealthPartsSources {
  readonly repository: Pick<JobRepository, 'check'>;
  readonly blobs: Pick<BlobStore, 'check' | 'freeBytes'>;
  readonly converter: Pick<MediaConverter, 'check'>;
  readonly recognizer: Pick<Recognizer, 'check'>;
  readonly clock: Clock;
  readonly config: Pick<AppConfig, 'roles' | 'storage'>;
}

/** The parts this process needs in its roles. */
export function healthParts(sources: HealthPartsSources): readonly HealthPart[] {
  const { repository, blobs, converter, recognizer, clock, config } = sources;
  const always: readonly HealthPart[] = [
    {
      name: 'database',
      reading: new BoundedReading({
        clock,
        failure: 'storage_unavailable',
        read: () => repository.check(),
      }),
    },
    {
      name: 'storage',
      reading: new BoundedReading({
        clock,
        failure: 'storage_unavailable',
        freshMs: STORAGE_FRESH_MS,
        read: () => assertStorage(blobs, config.storage.minFreeBytes),
      }),
    },
  ];
  if (!config.roles.has('pipeline')) {
    return always;
  }
  return [
    ...always,
    {
      name: 'converter',
      reading: new BoundedReading({
        clock,
        failure: 'converter_unavailable',
        freshMs: CHILDREN_FRESH_MS,
        read: () => converter.check(),
      }),
    },
    {
      name: 'engine',
      reading: new BoundedReading({
        clock,
        failure: 'engine_unavailable',
        freshMs: CHILDREN_FRESH_MS,
        read: () => recognizer.check(),
      }),
    },
  ];
}

/** Space first: on a full disk the trial write fails too, with a less telling word. */
async function assertStorage(
  blobs: Pick<BlobStore, 'check' | 'freeBytes'>,
  minFreeBytes: number,
): Promise<void> {
  const free = await blobs.freeBytes();
  if (free !== null && free < minFreeBytes) {
    throw new AppError('storage_full');
  }
  await blobs.check();
}
