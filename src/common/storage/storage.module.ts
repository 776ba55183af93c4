import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { Clock } from '../clock/clock';
import { ClockModule } from '../clock/clock.module';
import { AppConfig } from '../config/app-config';
import { ConfigModule } from '../config/config.module';
import { BlobStore } from './blob-store.port';
import { FileBlobStore } from './file.blob-store';
import { FileLeftoverJournal } from './file.leftover-journal';
import { LeftoverJournal } from './leftover-journal.port';
import { parseS3Location } from './s3-location';
import { S3BlobStore } from './s3.blob-store';

@Module({
  imports: [ConfigModule, ClockModule],
  providers: [
    {
      provide: BlobStore,
      inject: [AppConfig, Clock],
      useFactory: ({ storage, dataDir }: AppConfig, clock: Clock): BlobStore =>
        storage.url === undefined
          ? new FileBlobStore(dataDir, clock)
          : new S3BlobStore(parseS3Location(storage.url), join(dataDir, 'staging'), clock),
    },
    {
      provide: LeftoverJournal,
      inject: [AppConfig],
      useFactory: ({ dataDir }: AppConfig) => new FileLeftoverJournal(join(dataDir, 'journal')),
    },
  ],
  exports: [BlobStore, LeftoverJournal],
})
export class StorageModule {}
