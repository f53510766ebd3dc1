import { versionInCatalog } from '../../frameworks/packages.ts'
import {
  type Compiler,
  COMPILERS,
  isComplete,
  NEWEST_NODE,
  type NodeVersion,
  ANY_COMPILER,
  OLDEST_NODE,
  SHARED_BY,
} from './versions.ts'

// What is compiled for the claims of the README: each program, with each of the settings that somebody may have.

/** A program of the consumer, compiled with each of its settings. */
export interface Program {
  readonly file: string
  /** Of all its settings. */
  readonly options: Readonly<Record<string, unknown>>
  readonly settings: readonly Setting[]
  /** What it is run on. */
  readonly nodes: readonly NodeVersion[]
}

export interface Setting {
  readonly title: string
  readonly compilers: readonly Compiler[]
  /** What the package of the program is. */
  readonly type: 'commonjs' | 'module'
  readonly options: Readonly<Record<string, unknown>>
  /** Why it does not compile. */
  readonly error?: string
  /** The folder of the consumer with other versions of the frameworks. */
  readonly folder?: string
  /** What it prints when it is run. */
  readonly output?: string
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
    compilers: SHARED_BY,
    type: 'commonjs' as const,
    options: { module },
  })),
  ...(['node16', 'node18'] as const).map((module) => ({
    title: `module ${module} in a CommonJS package`,
    compilers: ANY_COMPILER,
    type: 'commonjs' as const,
    options: { module },
    error: 'TS1479', // an ES module cannot be imported with `require`
  })),
  {
    title: 'module nodenext in an ES module package',
    compilers: SHARED_BY,
    type: 'module',
    options: { module: 'nodenext' },
  },
  {
    title: 'moduleResolution bundler',
    compilers: SHARED_BY,
    type: 'module',
    options: { module: 'preserve', moduleResolution: 'bundler' },
  },
]

export const APP_OPTIONS = {
  strict: true,
  esModuleInterop: true,
  experimentalDecorators: true,
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

/** With all declarations judged. Without `--all` the oldest compiler judges only those that `app.ts` imports, above. */
const ENTRIES_SETTINGS: readonly Setting[] = [
  {
    title: 'every entry of core',
    compilers: SHARED_BY,
    type: 'module',
    options: { module: 'nodenext', skipLibCheck: false, noEmit: true },
  },
]

/** The newest, and the one before. */
const NEST = versionInCatalog('@nestjs/core')
export const NEST_11 = '11.2.10'
/** The folder of the consumer with the latter. */
export const NEST_11_FOLDER = 'nest11'

const OLDEST_TEMPLATE = { module: 'commonjs', target: 'ES2021', baseUrl: './' }

/** The `tsconfig.json` of a new NestJS application, by the version of its template. */
const NEST_SETTINGS: readonly Setting[] = [
  {
    title: 'template of NestJS 10 to 11.0, with 11',
    compilers: ['5.9.3'],
    type: 'commonjs',
    options: OLDEST_TEMPLATE,
    folder: NEST_11_FOLDER,
    output: NEST_11,
  },
  {
    title: 'template of NestJS 10 to 11.0, with 12',
    compilers: ['5.9.3'],
    type: 'commonjs',
    options: OLDEST_TEMPLATE,
    output: NEST,
  },
  {
    title: 'template of NestJS 11.1, with 11',
    compilers: ['5.9.3'],
    type: 'commonjs',
    options: { ...NEST_NODENEXT, baseUrl: './' },
    folder: NEST_11_FOLDER,
    output: NEST_11,
  },
  ...(['commonjs', 'module'] as const).map((type) => ({
    title: type === 'module' ? 'template of NestJS 12' : 'template of NestJS 12 as CommonJS',
    compilers: ['6.0.3', '7.0.2'] as const,
    type,
    output: NEST,
    options: {
      ...NEST_NODENEXT,
      types: ['node'],
      strict: true,
      strictPropertyInitialization: false,
    },
  })),
]

/** With the types of a browser, whose `Response` is another: what `create-next-app` and `create-vite` write. */
const BROWSER_SETTINGS: readonly Setting[] = [
  {
    title: 'template of Next.js',
    compilers: COMPILERS,
    type: 'module',
    options: {
      target: 'ES2017',
      lib: ['dom', 'dom.iterable', 'esnext'],
      module: 'esnext',
      allowJs: true,
      esModuleInterop: true,
      isolatedModules: true,
      jsx: 'preserve',
      resolveJsonModule: true,
      types: ['node'],
    },
  },
  {
    title: 'template of Vite',
    compilers: COMPILERS,
    type: 'module',
    options: {
      target: 'ES2022',
      lib: ['ES2022', 'DOM', 'DOM.Iterable'],
      module: 'ESNext',
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      moduleDetection: 'force',
      useDefineForClassFields: true,
      verbatimModuleSyntax: true,
      types: [],
    },
  },
]

/** What new applications begin with: these compile the same files by other settings. */
const TEMPLATES: readonly Program[] = [
  {
    file: 'nest.ts',
    options: NEST_OPTIONS,
    settings: NEST_SETTINGS,
    nodes: [OLDEST_NODE, NEWEST_NODE],
  },
  {
    file: 'fetch.ts',
    options: { moduleResolution: 'bundler', skipLibCheck: true, strict: true, noEmit: true },
    settings: BROWSER_SETTINGS,
    nodes: [],
  },
]

export const PROGRAMS: readonly Program[] = [
  { file: 'app.ts', options: APP_OPTIONS, settings: SETTINGS, nodes: [OLDEST_NODE] },
  { file: 'entries.ts', options: APP_OPTIONS, settings: ENTRIES_SETTINGS, nodes: [] },
  ...(isComplete ? TEMPLATES : []),
]
