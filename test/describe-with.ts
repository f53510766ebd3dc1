import { describe, type TaskMeta } from 'vitest'

import { pathOf } from './installed.ts'

// Tests that need a program of the machine. Without it they are skipped, except in CI, where they fail; `left-out.ts` says how many,
// at the end of the run.

/** The packages of Debian that have a program. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  // Pages need a font.
  'chromium-headless-shell': ['chromium-headless-shell', 'fonts-dejavu-core'],
  prometheus: ['prometheus'],
  promtool: ['prometheus'],
  'redis-sentinel': ['redis-sentinel'],
  'redis-server': ['redis-server'],
}

/** What a test lacks, for the report at the end of a run. */
export interface Missing {
  readonly programs: readonly string[]
  readonly packages: readonly string[]
}

declare module 'vitest' {
  interface TaskMeta {
    missing?: Missing
  }
}

/** `describe` for tests that start these programs, by name or by path. */
export function describeWith(
  ...programs: readonly string[]
): (name: string, tests: () => void) => void {
  const missing = programs.filter((program) => pathOf(program) === undefined)
  const isSkipped = missing.length > 0 && process.env['CI'] === undefined
  const meta: TaskMeta = isSkipped
    ? { missing: { programs: missing, packages: missing.flatMap((each) => PACKAGES[each] ?? []) } }
    : {}
  return (name, tests) => {
    // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- they are the caller's
    describe(name, { skip: isSkipped, meta }, tests)
  }
}
