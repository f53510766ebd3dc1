import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  // Tests run the sources: nothing needs to be built before.
  ssr: { resolve: { conditions: ['@portcullis/source', ...defaultServerConditions] } },
  // The controllers of Nest are written with decorators, in tests alone: no source of ours has them.
  oxc: { decorator: { legacy: true } },
  test: {
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      reporter: ['text', 'html'],
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/test/**/*.test.ts'],
          // One process runs many files, and loads the sources once. That is a third less work.
          isolate: false,
          benchmark: { include: [] },
          // Days of virtual time take seconds on a busy machine.
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: [
            'test/**/*.test.ts',
            'examples/*/test/*.test.ts',
            'examples/testing/vitest/**/*.test.ts',
          ],
          // Projects of their own, which `test:packed` runs.
          exclude: [...configDefaults.exclude, 'test/publishing/packed/consumer/**'],
          benchmark: { include: [] },
          testTimeout: 20_000,
        },
      },
    ],
  },
})
