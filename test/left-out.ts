import type { Plugin } from 'vite'
import type { TestCase, Vitest } from 'vitest/node'

import type { Missing } from './describe-with.ts'

// Says in the last line of a run which tests were left out, and what to install for them.

/** A test that was not run, as far as the line tells. */
export interface LeftOut {
  /** `undefined` for another reason than a program, such as the operating system. */
  readonly missing: Missing | undefined
}

/** Of Vitest: it runs when everything else is done, so that its line is the last one, whatever reports before it. */
export function leftOut(): Plugin {
  const known = new WeakSet<Vitest>()
  return {
    name: 'left-out',
    // Vitest calls it for each project.
    configureVitest({ vitest }) {
      if (known.has(vitest)) return
      known.add(vitest)
      vitest.onClose(() => {
        const line = sentence(skippedIn(vitest))
        if (line !== undefined) process.stdout.write(`\n${line}\n`)
      })
    },
  }
}

/** What is said about tests that were left out; nothing if there are none. */
export function sentence(tests: readonly LeftOut[]): string | undefined {
  const missing = tests.flatMap(({ missing: each }) => (each === undefined ? [] : [each]))
  const others = tests.length - missing.length
  const programs = unique(missing.flatMap((each) => each.programs))
  const packages = unique(missing.flatMap((each) => each.packages))
  const parts = [
    ...(missing.length === 0
      ? []
      : [
          `${missing.length} for which ${list(programs)} ${programs.length === 1 ? 'is' : 'are'} missing (on Debian: apt-get install ${packages.join(' ')})`,
        ]),
    ...(others === 0 ? [] : [`${others} that cannot run on this system`]),
  ]
  if (parts.length === 0) return undefined
  return `${tests.length} ${tests.length === 1 ? 'test was' : 'tests were'} skipped: ${parts.join('; ')}.`
}

/** Without those that a name on the command line leaves out. */
function skippedIn(vitest: Vitest): readonly LeftOut[] {
  const tests = vitest.state
    .getTestModules()
    .flatMap((module) =>
      Array.from(module.children.allTests('skipped'), (test) => ({ missing: missingOf(test) })),
    )
  const isNamed = vitest.config.testNamePattern !== undefined
  return isNamed ? tests.filter(({ missing }) => missing !== undefined) : tests
}

function missingOf(test: TestCase): Missing | undefined {
  let task: TestCase | TestCase['parent'] = test
  while (task.type !== 'module') {
    const { missing } = task.meta()
    if (missing !== undefined) return missing
    task = task.parent
  }
  return undefined
}

function list(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted()
}
