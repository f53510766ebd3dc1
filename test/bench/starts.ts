import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { install, pack } from '../publishing/packed/consumers.ts'
import { FIRST_ANSWERS } from './first-answer-child.ts'
import { START_FLOORS } from './floors.ts'
import type { Import } from './import-child.ts'
import { AUDIENCE, createSigner, ISSUER } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { inTurn, median, medianRatio } from './measure.ts'
import { flags, report } from './report.ts'
import { type Column, printTable } from './table.ts'

// How long a process takes until it can work: an import, the first 200 of a guarded route, the help of the program. The packages
// are installed as they would be published, and each figure is the median of fresh processes in turn:
//
//   pnpm bench starts            the table
//   pnpm bench starts --check    ratios alone, against floors.ts
//   pnpm bench starts --write    the table of goals in README.md as well

const STARTS = flags.quick ? 1 : flags.check ? 11 : 21
const VERSIONS = { express: '5.3.0', 'express-oauth2-jwt-bearer': '1.10.0', jose: '6.2.17' }
const CHILDREN = ['first-answer-child.ts', 'import-child.ts']

const here = dirname(fileURLToPath(import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'portcullis-starts-'))
const consumer = join(work, 'consumer')
const signer = createSigner()
const keyServer = await listenForKeys(signer.jwk)

/** Runs Node in the project, and answers what it prints. */
async function node(...args: readonly string[]): Promise<string> {
  const options = ['--no-warnings', ...args]
  return (await promisify(execFile)(process.execPath, options, { cwd: consumer })).stdout
}

async function importOnce(name: string): Promise<number> {
  const answer = await node('import-child.ts', '[]', JSON.stringify([name]))
  return (JSON.parse(answer) as Import).elapsed // import-child.ts prints nothing else
}

/** Milliseconds of the whole process. */
async function timed(...args: readonly string[]): Promise<number> {
  const before = performance.now()
  await node(...args)
  return performance.now() - before
}

async function answerFirst(guard: string): Promise<number> {
  const keys = {
    urls: keyServer.urls,
    token: signer.token(0),
    issuer: ISSUER,
    audience: AUDIENCE,
  }
  return Number(await node('first-answer-child.ts', guard, JSON.stringify(keys)))
}

const PROGRAM = join('node_modules', '@portcullis', 'cli', 'dist', 'main.js')
const SUBJECTS = new Map<string, () => Promise<number>>([
  ['import of @portcullis/core', async () => await importOnce('@portcullis/core')],
  ['import of jose', async () => await importOnce('jose')],
  ['Node alone, the whole process', async () => await timed('--eval', '0')],
  ['`portcullis --help`, the whole process', async () => await timed(PROGRAM, '--help')],
  ...FIRST_ANSWERS.map((guard): [string, () => Promise<number>] => [
    `first 200, ${guard}`,
    async () => await answerFirst(guard),
  ]),
])

type Results = ReadonlyMap<string, readonly number[]>

/** Of which each is a figure beside another. */
const RATIOS: readonly (readonly [figure: string, name: string, other: string])[] = [
  ['import of core / jose', 'import of @portcullis/core', 'import of jose'],
  [
    '`portcullis --help` / Node alone',
    '`portcullis --help`, the whole process',
    'Node alone, the whole process',
  ],
  [
    'first 200: our guard / jose, by hand',
    'first 200, @portcullis/express',
    'first 200, jose, by hand',
  ],
]

try {
  const tarballs = await pack(join(here, '..', '..'), work)
  await install(consumer, tarballs, VERSIONS)
  for (const child of CHILDREN) cpSync(join(here, child), join(consumer, child))
  const measureAll = async () =>
    await inTurn(SUBJECTS.keys(), STARTS, async (name) => (await SUBJECTS.get(name)?.()) ?? NaN, 0)
  await report('bench starts', START_FLOORS, measureAll, {
    figuresOf: (times: Results) =>
      new Map(
        RATIOS.map(([figure, name, other]) => [
          figure,
          medianRatio(times.get(name), times.get(other), (time) => time),
        ]),
      ),
    print(times) {
      const columns: readonly Column<[string, readonly number[]]>[] = [
        ['Milliseconds', ([name]) => name],
        ['', ([, each]) => median(each), 1],
      ]
      printTable(`Medians of ${STARTS} fresh processes in turn.`, columns, times)
    },
  })
} finally {
  keyServer.close()
  rmSync(work, { recursive: true, force: true })
}
