import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Core's own tests alone: they import the sources by relative paths, and so meet the mutants.
export default defineConfig({
  ssr: { resolve: { conditions: ['@portcullis/source', ...defaultServerConditions] } },
  test: { include: ['packages/core/test/**/*.test.ts'] },
})
