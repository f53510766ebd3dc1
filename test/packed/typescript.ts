import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { nodeIn } from './consumers.ts'
import { type Examine, type Report, succeeds, succeedsInSilence } from './report.ts'

// What the README says of TypeScript: which settings find the packages, from CommonJS and from ES modules, and that what
// comes of them runs on the oldest Node.

const COMPILERS = ['5.9.3', '6.0.3', '7.0.2'] as const
type Compiler = (typeof COMPILERS)[number]

/** The manifest entries of these compilers. */
export const COMPILER_PACKAGES: Readonly<Record<string, string>> = Object.fromEntries(
  COMPILERS.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
)

/** A program of the consumer, compiled with each of its settings. */
interface Program {
  readonly file: string
  /** Of all its settings. */
  readonly options: Readonly<Record<string, unknown>>
  readonly settings: readonly Setting[]
}

interface Setting {
  readonly title: string
  readonly compilers: readonly Compiler[]
  /** What the package of the program is. */
  readonly type: 'commonjs' | 'module'
  readonly options: Readonly<Record<string, unknown>>
  /** Why it does not compile. */
  readonly error?: string
}

const SETTINGS: readonly Setting[] = [
  {
    title: 'module commonjs, moduleResolution node10',
    compilers: ['5.9.3'],
    type: 'commonjs',
    options: { module: 'commonjs', moduleResolution: 'node10' },
  },
  {
    title: 'module commonjs, moduleResolution node10',
    compilers: ['6.0.3'],
    type: 'commonjs',
    options: { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' },
  },
  ...(['commonjs', 'node20', 'nodenext'] as const).map((module) => ({
    title: `module ${module} in a CommonJS package`,
    compilers: COMPILERS,
    type: 'commonjs' as const,
    options: { module },
  })),
  ...(['node16', 'node18'] as const).map((module) => ({
    title: `module ${module} in a CommonJS package`,
    compilers: COMPILERS,
    type: 'commonjs' as const,
    options: { module },
    error: 'TS1479', // an ES module cannot be imported with `require`
  })),
  {
    title: 'module nodenext in an ES module package',
    compilers: COMPILERS,
    type: 'module',
    options: { module: 'nodenext' },
  },
  {
    title: 'moduleResolution bundler',
    compilers: COMPILERS,
    type: 'module',
    options: { module: 'preserve', moduleResolution: 'bundler' },
  },
]

const APP_OPTIONS = {
  strict: true,
  esModuleInterop: true,
  target: 'es2022',
  lib: ['es2023'],
  types: ['node'],
}

/** What the templates of NestJS have in common. */
const NEST_OPTIONS = {
  declaration: true,
  removeComments: true,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  allowSyntheticDefaultImports: true,
  sourceMap: true,
  incremental: true,
  skipLibCheck: true,
  strictNullChecks: true,
}
const NEST_NODENEXT = {
  module: 'nodenext',
  moduleResolution: 'nodenext',
  resolvePackageJsonExports: true,
  esModuleInterop: true,
  isolatedModules: true,
  target: 'ES2023',
}

/** The `tsconfig.json` of a new NestJS application, by the version of its template. */
const NEST_SETTINGS: readonly Setting[] = [
  {
    title: 'NestJS 10 to 11.0',
    compilers: ['5.9.3'],
    type: 'commonjs',
    options: { module: 'commonjs', target: 'ES2021', baseUrl: './' },
  },
  {
    title: 'NestJS 11.1',
    compilers: ['5.9.3'],
    type: 'commonjs',
    options: { ...NEST_NODENEXT, baseUrl: './' },
  },
  {
    title: 'NestJS 12',
    compilers: ['6.0.3', '7.0.2'],
    type: 'commonjs',
    options: {
      ...NEST_NODENEXT,
      types: ['node'],
      strict: true,
      strictPropertyInitialization: false,
    },
  },
]

const PROGRAMS: readonly Program[] = [
  { file: 'app.ts', options: APP_OPTIONS, settings: SETTINGS },
  { file: 'nest.ts', options: NEST_OPTIONS, settings: NEST_SETTINGS },
]

/** Each on its own: other packages declare the same properties of a request with other types. */
const SIDE_BY_SIDE = ['request.mts', 'side-by-side.mts', 'side-by-side-mcp.mts']

/** @param packages All that are published. */
export function checkTypeScript(
  consumer: string,
  packages: readonly string[],
  report: Report,
): void {
  for (const program of PROGRAMS) {
    const text = readFileSync(join(consumer, program.file), 'utf8')
    const forgotten = packages.filter((name) => !text.includes(`from '${name}'`))
    if (forgotten.length > 0) throw new Error(`${program.file} imports no ${forgotten.join(', ')}`)
    for (const setting of program.settings) {
      for (const compiler of setting.compilers) {
        checkSetting(program, setting, compiler, consumer, report)
      }
    }
  }
  for (const compiler of COMPILERS) checkSideBySide(compiler, consumer, report)
}

/** Compiles the program and runs what comes of it. */
function checkSetting(
  { file, options }: Program,
  setting: Setting,
  compiler: Compiler,
  consumer: string,
  report: Report,
): void {
  const title = `TypeScript ${compiler}, ${setting.title}`
  const folder = join(consumer, title.replaceAll(/\W+/g, '-'))
  mkdirSync(folder)
  cpSync(join(consumer, file), join(folder, file))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: setting.type }))
  const compilerOptions = { ...options, ...setting.options, outDir: 'dist', rootDir: '.' }
  const tsconfig = JSON.stringify({ compilerOptions, files: [file] })
  writeFileSync(join(folder, 'tsconfig.json'), tsconfig)
  const compile = [process.execPath, compilerIn(consumer, compiler)]
  if (setting.error !== undefined) {
    report.check(`${title}: refused`, compile, folder, failsOnlyWith(setting.error))
    return
  }
  report.check(title, compile, folder)
  const run = [nodeIn(consumer, '20.19.0'), join('dist', file.replace(/\.ts$/, '.js'))]
  report.check(`${title}: runs on Node 20.19.0`, run, folder, succeedsInSilence)
}

function checkSideBySide(compiler: Compiler, consumer: string, report: Report): void {
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022']
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['preserve', 'bundler'],
  ] as const) {
    const modules = ['--types', 'node', '--module', module, '--moduleResolution', resolution]
    for (const file of SIDE_BY_SIDE) {
      const tsc = compilerIn(consumer, compiler)
      const command = [process.execPath, tsc, ...options, ...modules, file]
      report.check(`TypeScript ${compiler} ${module} ${file}`, command, consumer)
    }
  }
}

function compilerIn(consumer: string, compiler: Compiler): string {
  return join(consumer, 'node_modules', `typescript-${compiler}`, 'bin', 'tsc')
}

function failsOnlyWith(error: string): Examine {
  return (outcome) => {
    if (succeeds(outcome) === undefined) return 'it compiles'
    const errors = new Set(outcome.stdout.match(/\bTS\d+(?=:)/g))
    return errors.size === 1 && errors.has(error) ? undefined : outcome.stdout
  }
}
