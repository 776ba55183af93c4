export { ObservabilityModule } from './observability.module';
