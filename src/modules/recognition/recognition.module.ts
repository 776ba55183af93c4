import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { Clock } from '../../common/clock/clock';
import { ClockModule } from '../../common/clock/clock.module';
import { AppConfig } from '../../common/config/app-config';
import { ConfigModule } from '../../common/config/config.module';
import { DEBIAN_POCKETSPHINX, PocketSphinxRecognizer } from './engines/pocketsphinx.recognizer';
import { Recognizer } from './recognizer.port';

/** Files that engines write while they work; whatever lies there at a start is left over. */
export const scratchFolder = (dataDir: string): string => join(dataDir, 'scratch');

const ENGINE_OF_SETTING: Readonly<
  Record<AppConfig['recognition']['engine'], (config: AppConfig, clock: Clock) => Recognizer>
> = {
  auto: (config, clock) => pocketSphinx(config, clock),
  pocketsphinx: (config, clock) => pocketSphinx(config, clock),
};

const pocketSphinx = (config: AppConfig, clock: Clock): Recognizer =>
  new PocketSphinxRecognizer(
    { ...DEBIAN_POCKETSPHINX, scratchDir: scratchFolder(config.dataDir) },
    clock,
  );

@Module({
  imports: [ClockModule, ConfigModule],
  providers: [
    {
      provide: Recognizer,
      useFactory: (config: AppConfig, clock: Clock) =>
        ENGINE_OF_SETTING[config.recognition.engine](config, clock),
      inject: [AppConfig, Clock],
    },
  ],
  exports: [Recognizer],
})
export class RecognitionModule {}
