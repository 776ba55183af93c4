/** Preloaded into the service by the overhead benchmark: the workers hear of no commit and only poll. */
const { join } = require('node:path');

const { PipelineWorkers } = require(
  join(__dirname, '..', 'dist', 'modules', 'pipeline', 'workers', 'pipeline.workers.js'),
);
const { start } = PipelineWorkers.prototype;
PipelineWorkers.prototype.start = function startDeaf() {
  start.call(this);
  this.unsubscribe();
  this.unsubscribe = () => undefined;
};
