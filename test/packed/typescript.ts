import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { nodeIn } from './consumers.ts'
import { type Examine, type Report, succeeds, succeedsInSilence } from './report.ts'
import {
  type Compiler,
  COMPILERS,
  OLDEST_AND_NEWEST,
  type Program,
  PROGRAMS,
  type Setting,
} from './typescript-settings.ts'

// What the README says of TypeScript: which settings find the packages, from CommonJS and from ES modules, and that what
// comes of them runs on the oldest Node.

/** The manifest entries of these compilers. */
export const COMPILER_PACKAGES: Readonly<Record<string, string>> = Object.fromEntries(
  COMPILERS.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
)

/** Each on its own: other packages declare the same properties of a request with other types. */
const SIDE_BY_SIDE = ['request.mts', 'side-by-side.mts', 'side-by-side-mcp.mts']

/** @param packages All that can be imported. */
export function checkTypeScript(
  consumer: string,
  packages: readonly string[],
  report: Report,
): Promise<void>[] {
  return [
    ...PROGRAMS.flatMap((program) => {
      const text = readFileSync(join(consumer, program.file), 'utf8')
      const forgotten = packages.filter((name) => !text.includes(`from '${name}'`))
      if (forgotten.length > 0)
        throw new Error(`${program.file} imports no ${forgotten.join(', ')}`)
      return program.settings.flatMap((setting) =>
        setting.compilers.map(async (compiler) => {
          await checkSetting(program, setting, compiler, consumer, report)
        }),
      )
    }),
    ...COMPILERS.flatMap((compiler) => checkSideBySide(compiler, consumer, report)),
  ]
}

/** Compiles the program and runs what comes of it. */
async function checkSetting(
  { file, options, nodes }: Program,
  setting: Setting,
  compiler: Compiler,
  consumer: string,
  report: Report,
): Promise<void> {
  const title = `TypeScript ${compiler}, ${setting.title}`
  const folder = join(consumer, setting.folder ?? '', title.replaceAll(/\W+/g, '-'))
  mkdirSync(folder)
  cpSync(join(consumer, file), join(folder, file))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: setting.type }))
  const compilerOptions = { ...options, ...setting.options, outDir: 'dist', rootDir: '.' }
  const tsconfig = JSON.stringify({ compilerOptions, files: [file] })
  writeFileSync(join(folder, 'tsconfig.json'), tsconfig)
  const compile = [process.execPath, compilerIn(consumer, compiler)]
  if (setting.error !== undefined) {
    await report.check(`${title}: refused`, compile, folder, failsOnlyWith(setting.error))
    return
  }
  await report.check(title, compile, folder)
  const program = join('dist', file.replace(/\.ts$/, '.js'))
  for (const node of nodes) {
    const run = [nodeIn(consumer, node), program]
    await report.check(`${title}: runs on Node ${node}`, run, folder, printsOnly(setting.output))
  }
}

function checkSideBySide(compiler: Compiler, consumer: string, report: Report): Promise<void>[] {
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022']
  const resolutions = [
    ['nodenext', 'nodenext'],
    ...(OLDEST_AND_NEWEST.includes(compiler) ? [['preserve', 'bundler'] as const] : []),
  ] as const
  return resolutions.flatMap(([module, resolution]) => {
    const modules = ['--types', 'node', '--module', module, '--moduleResolution', resolution]
    return SIDE_BY_SIDE.map(async (file) => {
      const tsc = compilerIn(consumer, compiler)
      const command = [process.execPath, tsc, ...options, ...modules, file]
      await report.check(`TypeScript ${compiler} ${module} ${file}`, command, consumer)
    })
  })
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

function printsOnly(output = ''): Examine {
  return (outcome) =>
    succeedsInSilence(outcome) ??
    (outcome.stdout.trim() === output ? undefined : `it prints ${outcome.stdout}, not ${output}`)
}
