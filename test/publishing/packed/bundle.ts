import { globSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { type GetModuleInfo, rollup } from '@rollup/wasm-node'

// Puts the compiled modules of a package into one file for each entry and one for what several entries have in common: a process
// that imports the package then reads two files and not a hundred. Nothing is minified, and comments stay.

/** The file of what several entries have in common. There is one copy of it in a process, whichever entry is imported. */
const SHARED = 'shared'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** Replaces the compiled modules of a package by its bundle: a file for each entry of its manifest. Declarations stay as they are. */
export async function bundle(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  const input = entriesOf(folder)
  const bundled = join(dist, '.bundle')
  const build = await rollup({
    input,
    // What is no file of the package: its dependencies, and modules of Node.
    external: (name) => !name.startsWith('.') && !name.startsWith(dist),
    // A circle would decide by the order of imports what a module sees: refused, as is all else that rollup doubts.
    onLog: (_, { message }) => {
      throw new Error(message)
    },
  })
  await build.write({
    dir: bundled,
    chunkFileNames: '[name].js',
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    generatedCode: 'es2015',
    manualChunks: (module, { getModuleInfo }) =>
      input.includes(module) || entriesAbove(module, getModuleInfo) < 2 ? undefined : SHARED,
  })
  await build.close()
  for (const module of globSync('**/*.js', { cwd: dist, exclude: ['.bundle'] })) {
    rmSync(join(dist, module))
  }
  for (const file of globSync('*.js', { cwd: bundled })) {
    renameSync(join(bundled, file), join(dist, file))
  }
  rmSync(bundled, { recursive: true })
  // The compiler would believe that its own modules are still there, and write only those that changed.
  rmSync(join(dist, '.tsbuildinfo'))
}

/** What the manifest exports, but itself. */
function entriesOf(folder: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  return Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [join(folder, entry.default)],
  )
}

/** How many entries need a module. */
function entriesAbove(module: string, infoOf: GetModuleInfo): number {
  const seen = new Set([module])
  // A set hands out what is added during the walk.
  for (const each of seen) for (const importer of infoOf(each)?.importers ?? []) seen.add(importer)
  return [...seen].filter((each) => infoOf(each)?.isEntry === true).length
}
