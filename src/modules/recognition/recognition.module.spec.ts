import { Test } from '@nestjs/testing';
import { AppConfig, loadConfig } from '../../common/config/app-config';
import { PocketSphinxRecognizer } from './engines/pocketsphinx.recognizer';
import { RecognitionModule, scratchFolder } from './recognition.module';
import { Recognizer } from './recognizer.port';

describe('RecognitionModule', () => {
  const resolveEngine = async (settings: Record<string, string>): Promise<Recognizer> => {
    const building = Test.createTestingModule({ imports: [RecognitionModule] })
      .overrideProvider(AppConfig)
      .useValue(loadConfig({ DATA_DIR: '/var/lib/steward', ...settings }));
    return (await building.compile()).get(Recognizer);
  };

  it.each([{}, { RECOGNIZER: 'auto' }, { RECOGNIZER: 'pocketsphinx' }])(
    'gives PocketSphinx for %j',
    async (settings) => {
      expect(await resolveEngine(settings)).toBeInstanceOf(PocketSphinxRecognizer);
    },
  );

  it('keeps the files of engines at work in a folder of their own in the data folder', () => {
    expect(scratchFolder('/var/lib/steward')).toBe('/var/lib/steward/scratch');
  });
});
