import { serve } from './service/serve.mjs';
import { transcribeSample } from './service/transcribe-sample.mjs';
import { main } from './setup/steps.mjs';

await main(() => serve(transcribeSample));
