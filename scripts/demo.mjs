import { serve } from './service/serve.mjs';
import { transcribeSample } from './service/transcribe-sample.mjs';
import { main } from './setup/steps.mjs';

// The progress and the transcript shall be read, not a record for each request.
await main(() => serve({ whenReady: transcribeSample, settings: { LOG_LEVEL: 'warn' } }));
