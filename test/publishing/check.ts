import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { createReport, pnpm } from './packed/report.ts'

// `pnpm check`: format, build, lint, types, what nobody uses. With `--fix` tools mend what they can by themselves.

const root = join(import.meta.dirname, '..', '..')
const { values } = parseArgs({ options: { fix: { type: 'boolean', default: false } } })

/** Each has settings of its own, as the root has, whose project takes as long as all of them. */
const PROJECTS = [
  'packages/cli/browser',
  'test/bench',
  'examples/graphql',
  'test/frameworks/apps',
  'test/migration',
  'docs',
  'docs/theme',
]

const report = createReport()
const check = async (...command: readonly string[]) => {
  await report.check(command.join(' '), command, root)
}
const compile = async (project: string) => {
  // Each checker works out again what files have in common: with one, it takes half the processor time.
  await check('tsc', '-p', project, '--checkers', '1')
}
/** What needs the types as published, and what can wait meanwhile. */
const afterBuild = async () => {
  await report.check('build', pnpm('build'), root)
  await Promise.all([
    // It takes as long as all others together.
    check('oxlint', ...(values.fix ? ['--fix'] : [])),
    ...PROJECTS.map(compile),
    check('knip', '--config', 'test/knip.json'),
    check('node', 'test/publishing/release/actionlint.ts'),
  ])
}

await check('oxfmt', values.fix ? '.' : '--check')
await Promise.all([afterBuild(), compile('.')])
process.exitCode = report.failures() === 0 ? 0 : 1
