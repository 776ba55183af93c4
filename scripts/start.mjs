import { serve } from './service/serve.mjs';
import { main } from './setup/steps.mjs';

await main(() => serve());
