import { ensureNodePackages } from './node-packages.mjs';
import { main } from './steps.mjs';

/** The npm packages alone: a layer of the container image that outlives changes of the source. */
await main(ensureNodePackages);
