/** The direction rules of docs/architecture/overview.md; a violation fails the build. */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment:
        'A cycle hides a missing third thing: an event, or a port that lives with its consumer.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'module-internals-are-private',
      severity: 'error',
      comment: 'Modules meet only at their index.ts.',
      from: { path: '^src/modules/([^/]+)/' },
      to: {
        path: '^src/modules/([^/]+)/',
        pathNot: ['^src/modules/$1/', '^src/modules/[^/]+/index\\.ts$'],
      },
    },
    {
      name: 'composition-root-uses-faces',
      severity: 'error',
      comment: 'Files outside the modules see a module only through its index.ts.',
      from: { path: '^src/[^/]+\\.ts$' },
      to: { path: '^src/modules/[^/]+/', pathNot: '^src/modules/[^/]+/index\\.ts$' },
    },
    {
      name: 'no-own-face-inside',
      severity: 'error',
      comment:
        'Inside a module import the file itself: a barrel imported from within makes undefined providers.',
      from: { path: '^src/modules/([^/]+)/', pathNot: '^src/modules/[^/]+/index\\.ts$' },
      to: { path: '^src/modules/$1/index\\.ts$' },
    },
    {
      name: 'intake-pipeline-recognition',
      severity: 'error',
      comment: 'Calls go intake -> pipeline -> recognition; the way back is an event.',
      from: { path: '^src/modules/(pipeline|recognition)/' },
      to: { path: '^src/modules/(intake|observability|walk|web)/' },
    },
    {
      name: 'recognition-knows-no-module',
      severity: 'error',
      comment: 'An engine only knows audio and text.',
      from: { path: '^src/modules/recognition/' },
      to: { path: '^src/modules/(?!recognition/)' },
    },
    {
      name: 'intake-uses-pipeline-only',
      severity: 'error',
      comment: 'Intake reaches recognition only through the pipeline.',
      from: { path: '^src/modules/intake/' },
      to: { path: '^src/modules/(recognition|walk|observability|web)/' },
    },
    {
      name: 'walk-knows-no-module',
      severity: 'error',
      comment: 'The walk stands alone.',
      from: { path: '^src/modules/walk/' },
      to: { path: '^src/modules/(?!walk/)' },
    },
    {
      name: 'nobody-needs-observability',
      severity: 'error',
      comment: 'Observability listens; nobody calls it.',
      from: { path: '^src/modules/(?!observability/)' },
      to: { path: '^src/modules/observability/' },
    },
    {
      name: 'common-knows-no-module',
      severity: 'error',
      comment: 'Common is below every module.',
      from: { path: '^src/common/' },
      to: { path: '^src/modules/' },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      comment: 'Domain code is rules only: no framework, no database, no adapter of its module.',
      from: { path: '^src/modules/[^/]+/domain/' },
      to: {
        path: [
          '^node_modules/(@nestjs|typeorm|fastify)',
          '^src/modules/[^/]+/(application|workers|persistence|media|http|engines|upstream|telegram)/',
        ],
      },
    },
    {
      name: 'adapters-are-bound-in-modules',
      severity: 'error',
      comment: 'Only a *.module.ts picks an adapter; everyone else sees the port.',
      from: {
        path: '^src/',
        pathNot: [
          '\\.module\\.ts$',
          '\\.spec\\.ts$',
          '^src/common/database/',
          '^src/common/storage/',
          '^src/modules/[^/]+/(persistence|media|engines)/',
        ],
      },
      to: {
        path: '(sql\\.job\\.repository|ffmpeg\\.media-converter|[^/]+\\.recognizer|(file|s3)\\.blob-store)\\.ts$',
      },
    },
    {
      name: 'ffmpeg-behind-one-adapter',
      severity: 'error',
      comment: 'fluent-ffmpeg is archived: only the media adapter may know it.',
      from: { path: '^src/', pathNot: '^src/modules/pipeline/media/' },
      to: { path: 'node_modules/fluent-ffmpeg' },
    },
    {
      name: 'not-to-dev-dep',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require', 'node', 'default'],
    },
  },
};
