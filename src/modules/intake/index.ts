export { HttpIntakeModule } from './http/http-intake.module';
export { IntakeEvents } from './intake.events';
export { IntakeModule } from './intake.module';
