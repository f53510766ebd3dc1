import { fileURLToPath } from 'node:url'

import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

const core = fileURLToPath(new URL('../../../packages/core/src/', import.meta.url))
const kit = fileURLToPath(new URL('../../../packages/kit/src/', import.meta.url))

/** Whose sources are changed. An adapter decides nothing about tokens, and yet a fault in one ends the process. */
const { MUTATION_PACKAGE: mutated = '{core,express,fastify,hono,kit,koa,nest}' } = process.env

// The own tests of these packages alone: they import its sources by relative paths, and so meet the mutants. So must the kit, and
// `@portcullis/testing`, which those of core use: with a second copy of core, its errors would be none of theirs.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@portcullis\/core$/, replacement: `${core}index.ts` },
      { find: /^@portcullis\/core\/(adapter|verifier)$/, replacement: `${core}$1.ts` },
      { find: /^@portcullis\/kit\/([a-z]+)$/, replacement: `${kit}$1.ts` },
    ],
  },
  ssr: { resolve: { conditions: ['@portcullis/source', ...defaultServerConditions] } },
  // The controllers of Nest are written with decorators, in tests alone.
  oxc: { decorator: { legacy: true } },
  // With all faults in them at once, the sources are slower.
  test: {
    include: [`packages/${mutated}/test/**/*.test.ts`],
    // They compare documents with files whose beginning Stryker changes.
    exclude: ['**/recipes.test.ts'],
    testTimeout: 30_000,
  },
})
