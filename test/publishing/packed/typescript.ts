import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { GUARDING, SKIPPING_LIB_CHECK } from '../../frameworks/packages.ts'
import { writeIndex } from './consumers.ts'
import type { Project } from './projects.ts'
import { type Report, succeedsInSilence } from './report.ts'
import { APP_OPTIONS, type Program, PROGRAMS, type Setting } from './typescript-settings.ts'
import {
  type Compiler,
  COMPILERS,
  isComplete,
  NEWEST_COMPILER,
  NODES,
  ANY_COMPILER,
  SHARED_BY,
} from './versions.ts'

// What the README says of TypeScript: which settings find the packages, from CommonJS and from ES modules, and that what
// comes of them runs on the oldest Node.

/** The manifest entries of these compilers. */
export const COMPILER_PACKAGES: Readonly<Record<string, string>> = Object.fromEntries(
  COMPILERS.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
)

/** Each on its own: other packages declare the same properties of a request with other types. */
const SIDE_BY_SIDE = ['request.mts', 'side-by-side.mts', 'side-by-side-mcp.mts']

/**
 * @param packages All that can be imported.
 * @param runProject Runs what came of a project.
 */
export function checkTypeScript(
  consumer: string,
  packages: readonly string[],
  report: Report,
  runProject: (project: Project) => Promise<void>,
): Promise<void>[] {
  const text = ['app.ts', ...GUARDING.map((folder) => join('guards', `${folder}.ts`))]
    .map((path) => readFileSync(join(consumer, path), 'utf8'))
    .join('')
  const forgotten = packages.filter((name) => !text.includes(`from '${name}'`))
  if (forgotten.length > 0) throw new Error(`app.ts and guards import no ${forgotten.join(', ')}`)
  return COMPILERS.map(async (compiler) => {
    const programs = PROGRAMS.flatMap((program) =>
      program.settings
        .filter(({ compilers }) => compilers.includes(compiler))
        .map((setting) => projectOf(program, setting, compiler)),
    )
    await checkProjects([...programs, ...sideBySide(compiler)], compiler, consumer, report)
    await Promise.all(programs.map(runProject))
  })
}

/** Compiles `app.ts` with all guards as an ES module, to be run on all Nodes. */
export async function compileApp(consumer: string, report: Report): Promise<Project> {
  const all = { module: 'nodenext', skipLibCheck: true, outDir: 'dist', rootDir: '.' }
  const options = { ...APP_OPTIONS, ...all }
  const project: Project = {
    title: 'app.ts',
    folder: 'app',
    file: 'app.ts',
    type: 'module',
    options,
    nodes: NODES,
  }
  writeProject(project, consumer)
  const command = [process.execPath, compilerIn(consumer, NEWEST_COMPILER), '-p', project.folder]
  await report.check('app.ts compiles', command, consumer, succeedsInSilence)
  return project
}

function projectOf(
  { file, options, nodes }: Program,
  setting: Setting,
  compiler: Compiler,
): Project {
  const { type, error, output, compilers } = setting
  // Compilers hardly differ in what they make of the same settings: the oldest is enough.
  const isRun = error === undefined && (isComplete || compiler === compilers[0])
  const title = `TypeScript ${compiler}, ${setting.title}`
  return {
    title,
    folder: join(setting.folder ?? '', folderFor(title)),
    file,
    type,
    options: { ...options, ...setting.options, outDir: 'dist', rootDir: '.' },
    error,
    nodes: isRun ? nodes : [],
    output,
  }
}

function sideBySide(compiler: Compiler): readonly Project[] {
  if (!SHARED_BY.includes(compiler)) return []
  const options = {
    noEmit: true,
    strict: true,
    target: 'es2022',
    lib: ['es2022'],
    types: ['node'],
    experimentalDecorators: true,
  }
  const resolutions = [
    ['nodenext', 'nodenext'],
    ...(isComplete && ANY_COMPILER.includes(compiler) ? [['preserve', 'bundler'] as const] : []),
  ] as const
  return resolutions.flatMap(([module, moduleResolution]) =>
    SIDE_BY_SIDE.map((file) => {
      const title = `TypeScript ${compiler} ${module} ${file}`
      const all = { ...options, module, moduleResolution }
      return { title, folder: folderFor(title), file, type: 'module', options: all, nodes: [] }
    }),
  )
}

function folderFor(title: string): string {
  return title.replaceAll(/\W+/g, '-')
}

/**
 * Compiles projects. One process compiles them all: it reads what they import once, and is
 * faster the longer it runs.
 */
async function checkProjects(
  projects: readonly Project[],
  compiler: Compiler,
  consumer: string,
  report: Report,
): Promise<void> {
  for (const project of projects) writeProject(project, consumer)
  const build = [process.execPath, compilerIn(consumer, compiler), '--build', '--verbose']
  // Each checker works out again what files have in common.
  if (compiler === NEWEST_COMPILER) build.push('--checkers', '1')
  const folders = projects.map(({ folder }) => folder)
  const { seconds, status, stdout, stderr } = await report.run([...build, ...folders], consumer)
  const statuses = projects.some(({ error }) => error !== undefined) ? [1, 2] : [0]
  const isExpected = status !== null && statuses.includes(status)
  const title = `TypeScript ${compiler}, ${projects.length} projects (${seconds.toFixed(1)} s)`
  report.tell(title, isExpected ? undefined : `it ends with ${status}: ${stdout}${stderr}`)
  const said = saidOfFolders(stdout)
  for (const project of projects) {
    const { error } = project
    const complaint = complaintAbout(project, said.get(basename(project.folder)))
    report.tell(error === undefined ? project.title : `${project.title}: refused`, complaint)
  }
}

function writeProject({ folder, file, type, options }: Project, consumer: string): void {
  const home = join(consumer, folder)
  mkdirSync(home)
  cpSync(join(consumer, file), join(home, file))
  cpSync(join(consumer, 'guards'), join(home, 'guards'), { recursive: true })
  if (options['skipLibCheck'] !== true) {
    writeIndex(
      home,
      GUARDING.filter((each) => !SKIPPING_LIB_CHECK.includes(each)),
    )
  }
  writeFileSync(join(home, 'package.json'), JSON.stringify({ type }))
  const tsconfig = JSON.stringify({ compilerOptions: options, files: [file] })
  writeFileSync(join(home, 'tsconfig.json'), tsconfig)
}

/** What the compiler says of each project, by the name of its folder. */
function saidOfFolders(stdout: string): ReadonlyMap<string, string> {
  const [, ...parts] = stdout.split(/Building project '(.*)'\.\.\.$/m)
  return new Map(
    parts.flatMap((path, at) =>
      at % 2 === 0 ? [[basename(dirname(path)), parts[at + 1] ?? '']] : [],
    ),
  )
}

function complaintAbout({ error }: Project, said: string | undefined): string | undefined {
  if (said === undefined) return 'it was not compiled'
  const errors = new Set(said.match(/\bTS\d+(?=:)/g))
  if (error === undefined) return errors.size === 0 ? undefined : said
  if (errors.size === 0) return 'it compiles'
  return errors.size === 1 && errors.has(error) ? undefined : said
}

function compilerIn(consumer: string, compiler: Compiler): string {
  return join(consumer, 'node_modules', `typescript-${compiler}`, 'bin', 'tsc')
}
