import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

// What GitHub is told to do, and what editors, containers and bots are told of this repository: compared with what it says of
// itself elsewhere.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly uses?: string
        readonly steps?: readonly Step[]
        readonly permissions?: Readonly<Record<string, string>>
        readonly environment?: string
        readonly 'timeout-minutes'?: number
      }
    >
  >
}
interface Manifest {
  readonly packageManager: string
  readonly scripts: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}
const manifest = JSON.parse(read('package.json')) as Manifest
const [nodeVersion = ''] = new Set(Object.values(manifest.optionalDependencies))

const workflows = globSync('.github/workflows/*', { cwd: root }).map((path) => ({
  path,
  text: read(path),
  workflow: parse(read(path)) as Workflow,
}))
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps)

describe.each(workflows)('$path', ({ text, workflow }) => {
  test('names each action by a digest, with its version beside it', () => {
    const uses = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action)
    expect(uses.length).toBeGreaterThan(0)
    const loose = uses.filter(
      (action) =>
        !/^[\w-]+\/[\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action) &&
        !existsSync(join(root, action)),
    )
    expect(loose).toEqual([])
  })

  test('may read by default, and has no secret', () => {
    const allowed = Object.entries(workflow.permissions)
    expect(allowed.filter(([name, may]) => name !== 'contents' || may !== 'read')).toEqual([])
    expect(text).not.toMatch(/secrets|(?<!id-)token:|NODE_AUTH|pull_request_target|workflow_run/)
  })

  test('leaves no credentials behind, and puts nothing that others write into a shell', () => {
    const checkouts = stepsOf(workflow).filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    const careless = checkouts.filter((step) => step.with?.['persist-credentials'] !== false)
    expect(careless).toEqual([])
    expect(stepsOf(workflow).filter(({ run }) => run?.includes('${{'))).toEqual([])
  })

  test('ends each job after some minutes', () => {
    const endless = Object.entries(workflow.jobs).filter(
      ([, job]) => job.uses === undefined && job['timeout-minutes'] === undefined,
    )
    expect(endless).toEqual([])
  })

  test('runs scripts that there are', () => {
    const lines = stepsOf(workflow).map(({ run = '' }) => run)
    const runs = [...lines.join('\n').matchAll(/pnpm@[\d.]+ (?:run )?(\S+)/g)]
    const names = runs.map(([, name = '']) => name).filter((name) => name !== 'install')
    expect(names.filter((name) => !(name in manifest.scripts))).toEqual([])
  })
})

test('only the jobs that publish packages and the site can prove who they are, each in its environment', () => {
  const able = workflows.flatMap(({ path, workflow }) =>
    Object.entries(workflow.jobs)
      .filter(([, { permissions = {} }]) => permissions['id-token'] !== undefined)
      .map(([job, { environment }]) => ({ path, job, environment })),
  )
  expect(able).toEqual([
    { path: '.github/workflows/release.yml', job: 'publish', environment: 'release' },
    { path: '.github/workflows/site.yml', job: 'publish', environment: 'github-pages' },
  ])
})

test('the job that publishes has the branches in which `release` looks for its commit', () => {
  const { jobs } = parse(read('.github/workflows/release.yml')) as Workflow
  const [checkout] = jobs['publish']?.steps ?? []
  expect(checkout?.with).toMatchObject({ 'fetch-depth': 0 })
})

test('the job that publishes runs the very pnpm that package.json names', () => {
  const [exact = ''] = manifest.packageManager.split('+')
  const loose = read('.github/workflows/release.yml')
    .split('\n')
    .filter((line) => line.includes('pnpm@') && !line.includes(`npx --yes ${exact} `))
  expect(exact).toMatch(/^pnpm@\d+\.\d+\.\d+$/)
  expect(loose).toEqual([])
})

test('the same digest stands for the same version everywhere', () => {
  const all = workflows.map(({ text }) => text).join('\n')
  const pins = all.matchAll(/uses: ([\w-]+\/[\w-]+).*?@(.*)/g)
  const versions = new Map<string, Set<string>>()
  for (const [, action = '', pin = ''] of pins) {
    versions.set(action, (versions.get(action) ?? new Set()).add(pin))
  }
  expect([...versions].filter(([, each]) => each.size > 1)).toEqual([])
})

test('the Node of .nvmrc is that of the lockfile', () => {
  expect(read('.nvmrc')).toBe(`${nodeVersion}\n`)
})

test('the Nodes that are tested are those that packages support', () => {
  const { jobs } = parse(read('.github/workflows/test.yml')) as {
    jobs: { supported: { strategy: { matrix: { node: number[] } } } }
  }
  expect(jobs.supported.strategy.matrix.node).toEqual([20, 22, 24, 26])
})

test('the models that have few sequences in a usual run have minutes of them in a long one', () => {
  const { jobs } = parse(read('.github/workflows/long.yml')) as Workflow
  const lines = (jobs['models']?.steps ?? []).map(({ run = '' }) => run)
  const named = lines.flatMap((line) => /pnpm@12 test (.*)/.exec(line)?.[1]?.split(' ') ?? [])
  const models = globSync('{packages/*/test,test/{simulation,hostile}}/**/*.test.ts', { cwd: root })
    .filter((path) => read(path).includes('modelRuns('))
    .filter((path) => !path.includes('node_modules'))
  expect(models.length).toBeGreaterThan(10)
  expect(models.filter((path) => !named.some((each) => path.includes(each)))).toEqual([])
})

test('the container has the programs that tests start', () => {
  const [, list = ''] = /^for program in (.*); do$/m.exec(read('.ci/run')) ?? []
  const { onCreateCommand } = JSON.parse(read('.devcontainer/devcontainer.json')) as {
    onCreateCommand: string
  }
  // The image has the others.
  const programs = list.split(' ').filter((name) => !['curl', 'openssl'].includes(name))
  expect(programs.filter((name) => !onCreateCommand.includes(` ${name}`))).toEqual([])
})

test('an editor runs programs that there are', () => {
  const files = [...read('.vscode/launch.json').matchAll(/"\$\{workspaceFolder\}\/(.+?)"/g)]
  expect(files.length).toBeGreaterThan(4)
  expect(files.filter(([, path = '']) => !existsSync(join(root, path)))).toEqual([])
})

test('updates of the older frameworks, and of the Node of the lockfile, are held together', () => {
  const { packageRules } = JSON.parse(read('.github/renovate.json')) as {
    packageRules: { matchDepNames?: string[]; matchPackageNames?: string[] }[]
  }
  const named = new Set(
    packageRules.flatMap(({ matchDepNames = [], matchPackageNames = [] }) =>
      matchDepNames.concat(matchPackageNames),
    ),
  )
  const { catalog } = parse(read('pnpm-workspace.yaml')) as { catalog: Record<string, string> }
  const aliases = Object.keys(catalog).filter((name) => catalog[name]?.startsWith('npm:'))
  const wanted = [...aliases, ...Object.keys(manifest.optionalDependencies)]
  expect(wanted.filter((name) => !named.has(name))).toEqual([])
})
