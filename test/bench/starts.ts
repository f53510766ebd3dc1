import { join } from 'node:path'

import { withConsumer } from './consumer.ts'
import { FIRST_ANSWERS } from './fresh-child.ts'
import { AUDIENCE, ISSUER } from './inputs.ts'
import { beside, inTurn, median } from './measure.ts'
import { flags, report } from './report.ts'
import { createSetting } from './subjects.ts'
import { printTable } from './table.ts'

// How long a process takes until it can work: an import, the first 200 of a guarded route, the help of the program: `pnpm bench
// starts`. The packages are installed as they would be published, and each figure is the median of fresh processes in turn.

const STARTS = flags.quick ? 1 : flags.check ? 11 : 21
const VERSIONS = { express: '5.3.0', jose: '6.2.17' }
const PROGRAM = join('node_modules', '@portcullis', 'cli', 'dist', 'main.js')

/** Of which each is a figure beside another. */
const RATIOS: Readonly<Record<string, readonly [name: string, other: string]>> = {
  'import of core / jose': ['import of @portcullis/core', 'import of jose'],
  '`portcullis --help` / Node alone': ['`portcullis --help`', 'Node alone'],
  'first 200: our guard / jose, by hand': [
    'first 200, @portcullis/express',
    'first 200, jose, by hand',
  ],
}

type Results = ReadonlyMap<string, readonly number[]>

await withConsumer(VERSIONS, async ({ node, importOnce }) => {
  const { signer, urls, keyServer } = await createSetting()
  const keys = { urls, token: signer.token(0), issuer: ISSUER, audience: AUDIENCE }
  const timed = async (...args: readonly string[]) => {
    const before = performance.now()
    await node(...args)
    return performance.now() - before
  }
  const subjects = new Map<string, () => Promise<number>>([
    ...['@portcullis/core', 'jose'].map(
      (name) => [`import of ${name}`, () => importOnce([name])] as const,
    ),
    // Of the whole process.
    ['Node alone', () => timed('--eval', '0')],
    ['`portcullis --help`', () => timed(PROGRAM, '--help')],
    ...FIRST_ANSWERS.map((guard) => {
      const answer = async () => Number(await node('fresh-child.ts', guard, JSON.stringify(keys)))
      return [`first 200, ${guard}`, answer] as const
    }),
  ])
  await report(
    'starts',
    async (): Promise<Results> =>
      await inTurn(subjects.keys(), STARTS, async (name) => (await subjects.get(name)?.()) ?? NaN),
    (times) => {
      printTable<[string, readonly number[]]>(
        `Medians of ${STARTS} fresh processes in turn.`,
        [
          ['Milliseconds', ([name]) => name],
          ['', ([, each]) => median(each), 1],
        ],
        times,
      )
    },
    (times) =>
      Object.fromEntries(
        Object.entries(RATIOS).map(([figure, [name, other]]) => [
          figure,
          beside(times.get(name), times.get(other), (one, two) => one / two),
        ]),
      ),
  )
  keyServer.close()
})
