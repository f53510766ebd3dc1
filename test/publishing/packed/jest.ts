import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { codeSpans, tableUnder } from '../../documents/markdown.ts'
import { install, NODE_PACKAGES, nodeIn } from './consumers.ts'
import type { Report } from './report.ts'
import { isComplete, NEWEST_NODE, NODES, type NodeVersion, OLDEST_NODE } from './versions.ts'

// What the README of @portcullis/testing says of Jest: its packages, and its lines as they are pasted. A project of its
// own, so that nothing is there but what the README names, the Nodes and two frameworks.

const FRAMEWORKS = { express: '5.3.0', fastify: '5.12.8' }
/** The packages that the README installs, each with a version that it allows. */
const TOOLS: Readonly<Record<string, string>> = {
  '@babel/plugin-transform-modules-commonjs': '7.29.14',
  '@types/jest': '30.0.0',
  '@types/node': '22.20.5',
  jest: '30.5.2',
  'ts-jest': '29.4.15',
  typescript: '6.0.3',
}
const OLD = NODES.filter((version) => version < '24')
const NEW = NODES.filter((version) => version > '24')

interface Project {
  readonly title: string
  readonly nodes: readonly NodeVersion[]
  readonly type: 'commonjs' | 'module'
  /** The path of its one test. */
  readonly test: string
  readonly flags: readonly string[]
  readonly config: Readonly<Record<string, unknown>>
  readonly tsconfig?: Readonly<Record<string, unknown>>
}

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..', '..')
const readme = readFileSync(join(root, 'packages', 'testing', 'README.md'), 'utf8')

const TESTS = {
  commonjs: join(root, 'examples', 'testing', 'jest-commonjs', 'locations.test.js'),
  modules: join(root, 'examples', 'testing', 'jest', 'locations.test.js'),
  express: join(here, 'consumer', 'jest', 'express.test.js'),
  typescript: join(here, 'consumer', 'jest', 'typescript.test.ts'),
}

const TYPESCRIPT = { target: 'es2022', strict: true, types: ['node', 'jest'] }
/** As in the templates of NestJS since 11.1. */
const NEXT = { ...TYPESCRIPT, module: 'nodenext', isolatedModules: true }
const COMMONJS = { ...TYPESCRIPT, module: 'commonjs' }

export async function checkJest(
  folder: string,
  tarballs: ReadonlyMap<string, string>,
  report: Report,
): Promise<void> {
  checkTools()
  await install(folder, tarballs, { ...NODE_PACKAGES, ...TOOLS, ...FRAMEWORKS })
  const jest = join(folder, 'node_modules', 'jest', 'bin', 'jest.js')
  // In the short form one of each way: the others differ in what Jest makes of them, and not in what is packed.
  const projects = isComplete
    ? [...withFlag(), ...withTransforms()]
    : [
        withFlag()
          .filter(({ type }) => type === 'module')
          .slice(0, 1),
        withTransforms().slice(-1),
      ].flat()
  const runs = projects.flatMap((project, at) => {
    const { title, nodes, flags } = project
    const home = join(folder, `project-${at}`)
    writeProject(home, project)
    return nodes.map(async (version) => {
      const command = [nodeIn(folder, version), ...flags, jest]
      await report.check(`Jest, Node ${version}: ${title}`, command, home)
    })
  })
  await Promise.all(runs)
}

/** @throws Error if that section of the README installs other packages than are tested. */
function checkTools(): void {
  const [, section = ''] = readme.split('\n## Runners\n')
  const lines = [...section.matchAll(/^npm install --save-dev ([^#\n]*)/gm)]
  const named = lines.flatMap(([, names = '']) => names.trim().split(/\s+/))
  const tested = Object.entries(TOOLS).map(([name, version]) => {
    const major = `${name}@${version.split('.')[0]}`
    return named.includes(major) ? major : name
  })
  const differing = [
    ...named.filter((name) => !name.startsWith('@portcullis/') && !tested.includes(name)),
    ...tested.filter((name) => !named.includes(name)),
  ]
  if (differing.length > 0) throw new Error(`not both named and tested: ${differing.join(', ')}`)
}

/** The first way: a flag, and `require` of an ES module, which Jest leaves to the newer Nodes. */
function withFlag(): readonly Project[] {
  const flags = ['--experimental-vm-modules']
  const commonjs = configOf('TypeScript, CommonJS')
  const typescript = { nodes: NEW, test: TESTS.typescript, flags }
  return [
    {
      title: 'JavaScript, CommonJS',
      nodes: NEW,
      type: 'commonjs',
      test: TESTS.commonjs,
      flags,
      config: {},
    },
    {
      title: 'JavaScript, ES modules',
      nodes: NEW,
      type: 'module',
      test: TESTS.modules,
      flags,
      config: {},
    },
    {
      title: 'JavaScript, ES modules, with Express',
      nodes: OLD,
      type: 'module',
      test: TESTS.express,
      flags,
      config: {},
    },
    {
      ...typescript,
      title: 'TypeScript, CommonJS',
      type: 'commonjs',
      config: commonjs,
      tsconfig: COMMONJS,
    },
    {
      ...typescript,
      title: 'TypeScript, CommonJS, module nodenext',
      type: 'commonjs',
      config: commonjs,
      tsconfig: NEXT,
    },
    {
      ...typescript,
      title: 'TypeScript, ES modules',
      type: 'module',
      config: configOf('TypeScript, ES modules'),
      tsconfig: NEXT,
    },
  ]
}

/** The second way: what is an ES module is made CommonJS. */
function withTransforms(): readonly Project[] {
  const common = { nodes: NODES, type: 'commonjs' as const, flags: [] }
  return [
    {
      ...common,
      title: 'transforms, JavaScript',
      test: TESTS.commonjs,
      config: blockOf('babel-jest', (line) => !line.includes('ts-jest')),
    },
    {
      ...common,
      title: 'transforms, TypeScript',
      // What ts-jest makes of it is the same on each.
      nodes: isComplete ? [OLDEST_NODE, NEWEST_NODE] : [OLDEST_NODE],
      test: TESTS.typescript,
      config: blockOf('babel-jest'),
      tsconfig: COMMONJS,
    },
  ]
}

/** The `jest` of package.json for tests of a kind, from the table. */
function configOf(tests: string): Project['config'] {
  const { rows } = tableUnder(readme, 'Runners', 'Tests')
  const [, cell = ''] = rows.find(([kind]) => kind === tests) ?? []
  const [config] = codeSpans(cell)
  if (config === undefined) throw new Error(`no configuration for ${tests}`)
  return JSON.parse(config) as Project['config']
}

/** The JSON block that mentions something, of which the reader may leave out lines. */
function blockOf(text: string, isKept: (line: string) => boolean = () => true): Project['config'] {
  const blocks = [...readme.matchAll(/```json\n(.*?)```/gs)].map(([, code = '']) => code)
  const block = blocks.find((code) => code.includes(text))
  if (block === undefined) throw new Error(`no block about ${text}`)
  return JSON.parse(block.split('\n').filter(isKept).join('\n')) as Project['config']
}

function writeProject(home: string, { type, test, config, tsconfig }: Project): void {
  mkdirSync(home)
  cpSync(test, join(home, test.endsWith('.ts') ? 'some.test.ts' : 'some.test.js'))
  const manifest = { private: true, type, ...(Object.keys(config).length > 0 && { jest: config }) }
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest))
  if (tsconfig === undefined) return
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions: tsconfig }))
}
