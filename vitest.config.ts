import { availableParallelism } from 'node:os'

import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'

import { leftOut } from './test/left-out.ts'

/** Tests that share a process well: they leave nothing behind, and wait for no program. */
const TOGETHER = [
  'test/{architecture,bound-tokens,conformance,documents,frameworks,mcp,migration,opaque-tokens,publishing}/**/*.test.ts',
  'test/simulation/{faults,model}/**/*.test.ts',
  'test/hostile/attacks/!(deep-json|install-scripts|pollution|supply-chain).test.ts',
]

export default defineConfig({
  plugins: [leftOut()],
  // Tests run the sources: nothing needs to be built before.
  ssr: { resolve: { conditions: ['@portcullis/source', ...defaultServerConditions] } },
  // The controllers of Nest are written with decorators, in tests alone: no source of ours has them.
  oxc: { decorator: { legacy: true } },
  test: {
    // Many tests wait: for a program that starts, or for a server. A percentage could be 100 at most, so this is a number.
    maxWorkers: Math.ceil(2.5 * availableParallelism()),
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
          // One process runs many files, and loads the sources once. That is a third less work.
          isolate: false,
          setupFiles: 'test/same-globals.ts',
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
          // As above: most of them load every framework.
          isolate: false,
          setupFiles: 'test/same-globals.ts',
          benchmark: { include: [] },
        },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: [
            'test/**/*.test.ts',
            'examples/*/test/*.test.ts',
            'examples/testing/vitest/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...TOGETHER],
          benchmark: { include: [] },
        },
      },
    ],
  },
})
