import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/app-config';
import { ConfigModule } from '../config/config.module';
import { DataDirPresence } from '../lifecycle/data-dir-presence';
import { Database } from './database';
import { openDatabase } from './open-database';

@Module({
  imports: [ConfigModule],
  providers: [
    {
      provide: DataDirPresence,
      useFactory: (config: AppConfig) => DataDirPresence.enter(config.dataDir),
      inject: [AppConfig],
    },
    {
      provide: Database,
      useFactory: (config: AppConfig) => openDatabase(config.database),
      inject: [AppConfig, DataDirPresence], // entered first: it keeps a second process from migrating
    },
  ],
  exports: [Database, DataDirPresence],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(DataDirPresence) private readonly presence: DataDirPresence,
  ) {}

  /** The last phase: by now nobody works with the database any more. */
  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
    await this.presence.leave();
  }
}
