import { Module } from '@nestjs/common';
import { AppConfig, loadConfig } from './app-config';

@Module({
  providers: [{ provide: AppConfig, useFactory: () => loadConfig(process.env) }],
  exports: [AppConfig],
})
export class ConfigModule {}
