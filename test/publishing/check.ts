import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { createReport, pnpm } from './packed/report.ts'

// `pnpm check`: format, build, types, lint, what nobody uses. With `--fix` tools mend what they can by themselves.

const root = join(import.meta.dirname, '..', '..')
const { values } = parseArgs({ options: { fix: { type: 'boolean', default: false } } })

const report = createReport()
const check = async (...command: readonly string[]) => {
  await report.check(command.join(' '), command, root)
}
/** Lint and types at once, which share what they read: of every project that has a tsconfig.json. Some need the types as published. */
const lint = async () => {
  await report.check('build', pnpm('build'), root)
  await check('oxlint', '--type-check', ...(values.fix ? ['--fix'] : []))
}

await check('oxfmt', values.fix ? '.' : '--check')
await Promise.all([
  lint(),
  check('knip', '--config', 'test/knip.json'),
  check('node', 'test/publishing/release/actionlint.ts'),
])
process.exitCode = report.failures() === 0 ? 0 : 1
