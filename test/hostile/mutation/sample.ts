import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { exit } from 'node:process'
import { parseArgs } from 'node:util'

import { Instrumenter } from '@stryker-mutator/instrumenter'
import fc from 'fast-check'

// A sample of faults, drawn over the sources of all packages, and which tests notice them: what is compared before and after
// tests are removed. Run it in a clone of its own, since it changes sources, and puts them back.

const SAMPLE = 'test/hostile/mutation/sample.json'
/** What came of the sample in two runs: a row for each change. */
const TABLE = 'test/hostile/mutation/sample.tsv'

/** One change of Stryker's. The line names its place, also where lines before it have come or gone. */
interface Mutant {
  readonly file: string
  readonly mutator: string
  /** The text of the line that it begins in, and which of those with this text. From 0. */
  readonly line: string
  readonly occurrence: number
  readonly column: number
  readonly original: string
  readonly replacement: string
}

interface Sample {
  readonly seed: number
  /** From how many it is drawn. */
  readonly of: number
  readonly mutants: readonly Mutant[]
}

type Verdict = 'killed' | 'timed out' | 'survived' | 'no such source'

interface Outcome {
  readonly mutant: number
  readonly verdict: Verdict
  /** The first test that failed. */
  readonly by?: string | undefined
}

/** For one run of tests. */
const MOST_MINUTES = 15

const silent = () => false
const LOG = {
  isDebugEnabled: silent,
  isInfoEnabled: silent,
  debug() {},
  info() {},
  warn() {},
} as never

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    size: { type: 'string', default: '200' },
    results: { type: 'string', default: '.stryker/sample.json' },
    /** How far: `own` for the tests of the package, `all` for those of the repository as well. */
    tests: { type: 'string', default: 'all' },
  },
})

if (positionals[0] === 'draw') await draw(Number(values.seed), Number(values.size))
else if (positionals[0] === 'run') run(values.results, values.tests === 'own')
else if (positionals[0] === 'table') tabulate(positionals.slice(1))
else {
  console.error(
    'sample.ts draw [--seed N] [--size N] | run [--results FILE] [--tests own|all] | table BEFORE AFTER',
  )
  exit(2)
}

async function draw(seed: number, size: number): Promise<void> {
  const all: Mutant[] = []
  for (const file of globSync('packages/*/src/**/*.ts').toSorted()) {
    all.push(...(await mutantsOf(file)))
  }
  const [mutants = []] = fc.sample(
    fc.shuffledSubarray([...all.keys()], { minLength: size, maxLength: size }),
    { seed, numRuns: 1 },
  )
  const drawn: Sample = {
    seed,
    of: all.length,
    mutants: mutants.toSorted((a, b) => a - b).flatMap((index) => all[index] ?? []),
  }
  writeFileSync(SAMPLE, `${JSON.stringify(drawn, undefined, 2)}\n`)
  console.log(`${drawn.mutants.length} of ${all.length}`)
}

async function mutantsOf(file: string): Promise<Mutant[]> {
  const text = readFileSync(file, 'utf8')
  const { mutants } = await new Instrumenter(LOG).instrument(
    [{ name: file, content: text, mutate: true }],
    {
      plugins: null,
      excludedMutations: [],
      ignorers: [],
      noHeader: true,
    },
  )
  const lines = text.split('\n')
  return mutants
    .filter(({ statusReason }) => statusReason === undefined)
    .map(({ mutatorName, location: { start, end }, replacement }) => {
      const line = lines[start.line] ?? ''
      return {
        file,
        mutator: mutatorName,
        line,
        occurrence: lines.slice(0, start.line).filter((each) => each === line).length,
        column: start.column,
        original: text.slice(offset(lines, start), offset(lines, end)),
        replacement,
      }
    })
}

function offset(
  lines: readonly string[],
  { line, column }: { readonly line: number; readonly column: number },
): number {
  return lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, column)
}

function run(results: string, own: boolean): void {
  if (execFileSync('git', ['status', '--porcelain', 'packages']).length > 0) {
    throw new Error('the sources are changed: run it in a clean clone')
  }
  const { mutants } = JSON.parse(readFileSync(SAMPLE, 'utf8')) as Sample
  const outcomes = existsSync(results)
    ? (JSON.parse(readFileSync(results, 'utf8')) as Outcome[])
    : []
  for (const [index, mutant] of mutants.entries()) {
    const before = outcomes.findIndex((each) => each.mutant === index)
    // What has survived the tests of its package may be noticed by others.
    if (before >= 0 && (own || outcomes[before]?.verdict !== 'survived')) continue
    const outcome = { mutant: index, ...outcomeOf(mutant, own, before >= 0) }
    if (before >= 0) outcomes.splice(before, 1, outcome)
    else outcomes.push(outcome)
    writeFileSync(results, `${JSON.stringify(outcomes, undefined, 2)}\n`)
    console.log(index, mutant.file, mutant.mutator, outcome.verdict, outcome.by ?? '')
  }
}

function outcomeOf(mutant: Mutant, own: boolean, survivedOwn: boolean): Omit<Outcome, 'mutant'> {
  const text = existsSync(mutant.file) ? readFileSync(mutant.file, 'utf8') : ''
  const changed = mutated(text, mutant)
  if (changed === undefined) return { verdict: 'no such source' }
  const stages = [...(survivedOwn ? [] : ownStages(mutant.file)), ...(own ? [] : wide(mutant.file))]
  writeFileSync(mutant.file, changed)
  try {
    for (const stage of stages) {
      const found = tried(stage)
      if (found !== undefined) return found
    }
    return { verdict: 'survived' }
  } finally {
    writeFileSync(mutant.file, text)
  }
}

function mutated(text: string, mutant: Mutant): string | undefined {
  const lines = text.split('\n')
  const places = [...lines.keys()].filter((line) => lines[line] === mutant.line)
  const line = places[mutant.occurrence]
  if (line === undefined) return undefined
  const start = offset(lines, { line, column: mutant.column })
  if (!text.startsWith(mutant.original, start)) return undefined
  return text.slice(0, start) + mutant.replacement + text.slice(start + mutant.original.length)
}

/** From the narrowest, which is quick, to all that import the source. */
function ownStages(file: string): string[][] {
  const [, name = ''] = file.split('/')
  const namesakes = globSync(`packages/${name}/test/**/${basename(file, '.ts')}.test.ts`)
  const first = namesakes.length > 0 ? [['run', '--project', 'unit', ...namesakes]] : []
  return [...first, ['related', '--run', '--project', 'unit', file]]
}

function wide(file: string): string[][] {
  const others = ['related', '--run', '--project', '!unit', file]
  // They start the program, so that no import leads from them to its sources.
  return file.startsWith('packages/cli/') ? [others, ['run', 'test/programs']] : [others]
}

function tried(stage: readonly string[]): Omit<Outcome, 'mutant'> | undefined {
  const report = '.stryker/sample-report.json'
  rmSync(report, { force: true })
  const { status, error } = spawnSync(
    'node_modules/.bin/vitest',
    [...stage, '--bail', '1', '--passWithNoTests', '--reporter', 'json', '--outputFile', report],
    { stdio: 'ignore', timeout: MOST_MINUTES * 60_000, killSignal: 'SIGKILL' },
  )
  if (error !== undefined) return { verdict: 'timed out' }
  return status === 0 ? undefined : { verdict: 'killed', by: firstFailure(report) }
}

function tabulate(files: readonly string[]): void {
  const { mutants } = JSON.parse(readFileSync(SAMPLE, 'utf8')) as Sample
  const runs = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Outcome[])
  const results = (index: number) =>
    runs.flatMap((outcomes) => {
      const outcome = outcomes.find(({ mutant }) => mutant === index)
      return [outcome?.verdict ?? '', outcome?.by ?? '']
    })
  const rows = mutants.map(({ file, mutator, original, replacement }, index) =>
    [index, file, mutator, oneLine(original), oneLine(replacement)].concat(results(index)),
  )
  const head = ['mutant', 'file', 'mutator', 'code', 'changed to', 'before', 'by', 'after', 'by']
  writeFileSync(TABLE, `${[head, ...rows].map((row) => row.join('\t')).join('\n')}\n`)
}

/** As much as tells it from others. */
function oneLine(code: string): string {
  return code.replaceAll(/\s+/g, ' ').slice(0, 80)
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

function firstFailure(file: string): string {
  if (!existsSync(file)) return 'the run ends'
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed')
    if (failed !== undefined) return `${name.replace(`${process.cwd()}/`, '')}: ${failed.fullName}`
  }
  return 'a file does not load'
}
