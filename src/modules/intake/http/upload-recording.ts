import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppConfig } from '../../../common/config/app-config';
import { AppError, asAppError } from '../../../common/errors/app-error';
import { Draining } from '../../../common/lifecycle/draining';
import { BlobStore } from '../../../common/storage/blob-store.port';
import type { Job } from '../../pipeline';
import { AcceptRecordingService } from '../application/accept-recording.service';
import { IntakeEvents } from '../intake.events';
import { senderOf } from './api-key.guard';
import { readUpload, tooLarge } from './multipart-upload';
import { idempotencyKey, uploadParameters } from './upload-fields';

/** A multipart body is a little larger than the file in it: boundaries and text parts. */
const ENVELOPE_BYTES = 1_048_576;
const FULL_RETRY_SECONDS = 300;
const STOPPING_RETRY_SECONDS = 5;

/** POST /v1/recordings: from the request to an accepted recording. */
@Injectable()
export class UploadRecording {
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    @Inject(AcceptRecordingService) private readonly acceptRecording: AcceptRecordingService,
    @Inject(BlobStore) private readonly blobs: BlobStore,
    @Inject(AppConfig) private readonly config: AppConfig,
    @Inject(Draining) private readonly draining: Draining,
    @Inject(IntakeEvents) private readonly events: IntakeEvents,
  ) {}

  /** @throws AppError with one of the intake codes; then nothing stays behind */
  async upload(request: FastifyRequest): Promise<{ job: Job; created: boolean }> {
    const work = this.work(request);
    this.underWay.add(work);
    try {
      return await work;
    } catch (error) {
      this.events.tell('refused', { intake: 'http', reason: asAppError(error).code });
      throw error;
    } finally {
      this.underWay.delete(work);
    }
  }

  /** Resolves when the uploads under way have been answered. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }

  private async work(request: FastifyRequest): Promise<{ job: Job; created: boolean }> {
    if (this.draining.begun) {
      throw new AppError('shutting_down', { retryAfterSeconds: STOPPING_RETRY_SECONDS });
    }
    const key = idempotencyKey(request.headers['idempotency-key']);
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > this.config.limits.uploadBytes + ENVELOPE_BYTES) {
      throw tooLarge(this.config.limits.uploadBytes);
    }
    await this.requireSpace(announced);
    const { staged, filename, mediaType, fields } = await readUpload(
      request,
      this.blobs,
      this.config.limits.uploadBytes,
    );
    try {
      return await this.acceptRecording.accept({
        staged,
        source: 'http',
        sender: senderOf(request),
        filename,
        mediaType,
        idempotencyKey: key,
        ...uploadParameters(fields),
      });
    } finally {
      await staged.discard(); // does nothing once the bytes are under their key
    }
  }

  private async requireSpace(announcedBytes: number): Promise<void> {
    const free = await this.blobs.freeBytes();
    if (free !== null && free - announcedBytes < this.config.storage.minFreeBytes) {
      throw new AppError('storage_full', { retryAfterSeconds: FULL_RETRY_SECONDS });
    }
  }
}
