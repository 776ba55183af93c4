import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { ProblemDto } from './common/http/problem.dto';

const PATH = 'docs';

/** Swagger UI at /docs and the document at /openapi.json. */
export function serveOpenApi(app: INestApplication, version: string): void {
  SwaggerModule.setup(PATH, app, () => openApiDocument(app, version), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Steward API',
    swaggerOptions: { persistAuthorization: true, displayRequestDuration: true },
  });
}

export function openApiDocument(app: INestApplication, version: string): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Steward')
    .setDescription(
      'Hand in a recording, read its transcript. An accepted recording is never lost silently.',
    )
    .setVersion(version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'One of API_KEYS' })
    .build();
  const document = SwaggerModule.createDocument(app, config, { extraModels: [ProblemDto] });
  return withNullTypes(document) as OpenAPIObject;
}

/**
 * OpenAPI 3.1 has no `nullable`, which the Swagger module still writes: null becomes one of the types,
 * or, beside a reference, one of the alternatives.
 */
function withNullTypes(node: unknown): unknown {
  if (Array.isArray(node)) {
    return node.map(withNullTypes);
  }
  if (typeof node !== 'object' || node === null) {
    return node;
  }
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withNullTypes(value)]),
  );
  if (nullable !== true) {
    return nullable === undefined ? rest : { ...rest, nullable };
  }
  if (typeof rest['type'] === 'string') {
    return { ...rest, type: [rest['type'], 'null'] };
  }
  const { allOf, $ref, ...others } = rest as { allOf?: unknown[]; $ref?: string };
  const alternatives = allOf ?? [{ $ref }];
  return { ...others, anyOf: [...alternatives, { type: 'null' }] };
}
