import { availableParallelism } from 'node:os'

import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'

import { leftOut } from './test/left-out.ts'

/** Of the tests outside the packages: they wait for no program. */
const TOGETHER = [
  'test/{architecture,bound-tokens,conformance,documents,frameworks,mcp,migration,opaque-tokens,publishing}/**/*.test.ts',
  'test/simulation/{faults,model}/**/*.test.ts',
  'test/hostile/attacks/!(deep-json|install-scripts|pollution|supply-chain).test.ts',
]

/** They leave something behind: an example that is served on Hono's server for Node.js replaces `Request` and `Response`. */
const APART = ['test/programs/example-routes.test.ts']

/** One process runs many files, and loads the sources and the frameworks once: a quarter to a third less work. */
const sharing = { isolate: false, setupFiles: 'test/same-globals.ts' }

export default defineConfig({
  plugins: [leftOut()],
  // Tests run the sources: nothing needs to be built before.
  ssr: { resolve: { conditions: ['@portcullis/source', ...defaultServerConditions] } },
  // The controllers of Nest are written with decorators, in tests alone: no source of ours has them.
  oxc: { decorator: { legacy: true } },
  test: {
    // Who waits for nothing needs no more: each worker loads the sources again.
    maxWorkers: availableParallelism(),
    // Tests make many short-lived objects: a larger young generation is collected less often, which saves 6 to 10 % of the time.
    execArgv: ['--max-semi-space-size=64'],
    // They end a test that hangs. None is to fail because the machine is busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
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
          ...sharing,
          benchmark: { include: [] },
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: TOGETHER,
          // Projects of their own, which `test:packed` runs.
          exclude: [...configDefaults.exclude, 'test/publishing/packed/consumer/**'],
          ...sharing,
          benchmark: { include: [] },
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: [
            'test/**/*.test.ts',
            'examples/*/test/*.test.ts',
            'examples/testing/vitest/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...TOGETHER, ...APART],
          ...sharing,
          // They wait for what they start. A percentage could be 100 at most, so this is a number.
          maxWorkers: Math.ceil(2.5 * availableParallelism()),
          sequence: { groupOrder: 1 },
          benchmark: { include: [] },
        },
      },
      {
        extends: true,
        test: { name: 'apart', include: APART, benchmark: { include: [] } },
      },
    ],
  },
})
