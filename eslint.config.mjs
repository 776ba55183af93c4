import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const wallClock = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Time comes from the Clock port.',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Time comes from the Clock port.',
  },
];

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'data/**', 'coverage/**', '.cache/**'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'off', // Nest needs value imports for injection
      '@typescript-eslint/require-await': 'off', // a port may be async while one adapter is not
      eqeqeq: 'error',
      curly: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/common/clock/**', 'src/**/*.spec.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...wallClock,
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'Settings come from AppConfig; only src/common/config reads the environment.',
        },
        {
          selector: "CallExpression[callee.property.name='save']",
          message: 'A whole-entity save resets queue columns; write guarded statements.',
        },
        {
          selector: "CallExpression[callee.name='forwardRef']",
          message: 'forwardRef hides a missing third thing.',
        },
      ],
    },
  },
  {
    files: ['src/common/config/**/*.ts', 'src/main.ts', 'src/migrate.ts'],
    rules: { 'no-restricted-syntax': ['error', ...wallClock] },
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off', // JSON answers of the service under test
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.{mjs,cjs,js}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        require: 'readonly',
        fetch: 'readonly',
        performance: 'readonly',
        __dirname: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        AbortSignal: 'readonly',
        AbortController: 'readonly',
        FormData: 'readonly',
        Blob: 'readonly',
      },
    },
  },
);
