import { Inject, Module, type DynamicModule, type OnModuleDestroy } from '@nestjs/common';
import type { Role } from './common/config/env.schema';
import { ConfigModule } from './common/config/config.module';
import { HttpModule } from './common/http/http.module';
import { Draining } from './common/lifecycle/draining';
import { LifecycleModule } from './common/lifecycle/lifecycle.module';
import { LoggingModule } from './common/logging/logging.module';
import { HttpIntakeModule } from './modules/intake';
import { ObservabilityModule } from './modules/observability';
import { PipelineModule } from './modules/pipeline';

/** The composition root: the roles of this process decide which modules take part. */
@Module({})
export class AppModule implements OnModuleDestroy {
  constructor(@Inject(Draining) private readonly draining: Draining) {}

  static forRoles(roles: ReadonlySet<Role>): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule,
        HttpModule,
        LifecycleModule,
        LoggingModule,
        PipelineModule,
        ObservabilityModule,
        ...(roles.has('api') ? [HttpIntakeModule] : []),
      ],
    };
  }

  /** The root goes first: from here on readiness fails, uploads are refused, the deadline runs. */
  onModuleDestroy(): void {
    this.draining.begin();
  }
}
