import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type GetModuleInfo, rollup } from '@rollup/wasm-node'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

import { inShort, withoutLinks } from './documents.ts'
import { manifestPaths, undeclared } from './published.ts'
import { sbomOf } from './sbom.ts'

// Makes what is published: `pnpm build`, after the compiler. Of each package a file for each entry and one for what several entries have
// in common, so that a process reads few files; the declarations likewise, by one run over all entries, so that a type is the same
// whichever of them it is imported from. Nothing is minified, and comments stay.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** The file of what several entries have in common. There is one copy of it in a process, whichever entry is imported. */
const SHARED = 'shared'

/** A package that is published within each that uses it. */
const KIT = '@portcullis/kit/'

/** What rollup remarks that is no fault. */
const HARMLESS: ReadonlySet<string> = new Set([
  'THIS_IS_UNDEFINED', // the compiler's helper for `using` asks for it
  'EMPTY_BUNDLE', // an entry of types alone
])

interface Manifest {
  readonly name: string
  readonly bin?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly publishConfig?: { readonly bin?: Readonly<Record<string, string>> }
}

/** A comment that stands alone on its lines, with these. */
const COMMENT = /^ *\/\*\*.*?\*\/\n/gms

const started = performance.now()
const folders = manifestPaths.map((path) => join(root, dirname(path)))
for (const folder of folders) rmSync(join(folder, 'dist'), { recursive: true, force: true })
await Promise.all(folders.map(build))
const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
const promises = withoutLinks(readFileSync(join(root, 'SECURITY.md'), 'utf8'))
for (const folder of folders) {
  writeFileSync(join(folder, 'sbom.cdx.json'), sbomOf(folder, lockfile))
  // What is promised is published with core; where to report, and what a release proves, with each.
  const text = basename(folder) === 'core' ? promises : inShort(promises)
  writeFileSync(join(folder, 'SECURITY.md'), text)
}
console.log(`packages/*/dist in ${((performance.now() - started) / 1000).toFixed(1)} s`)

async function build(folder: string): Promise<void> {
  const manifest = manifestOf(folder)
  const { modules, programs } = entriesOf(manifest)
  const declarations = modules.length > 0 ? await declare(folder, modules) : ''
  const entries = [...modules, ...programs]
  await bundle(folder, { entries, manifest, declared: new Set(commentsIn(declarations)) })
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The names of its entries under `dist`: what its manifest exports, and its programs. */
function entriesOf({ exports, bin = {}, publishConfig = {} }: Manifest): {
  modules: readonly string[]
  programs: readonly string[]
} {
  const files = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry.default],
  )
  const programs = Object.values({ ...bin, ...publishConfig.bin })
  return { modules: files.map(nameOf), programs: programs.map(nameOf) }
}

function nameOf(file: string): string {
  return relative('dist', file).replace(/\.js$/, '')
}

interface Bundle {
  readonly entries: readonly string[]
  readonly manifest: Manifest
  /** The comments of what is exported, each in one line. */
  readonly declared: ReadonlySet<string>
}

async function bundle(folder: string, { entries, manifest, declared }: Bundle): Promise<void> {
  const input = entries.map((name) => join(folder, 'build', `${name}.js`))
  const building = await rollup({
    input,
    external: isExternal,
    // A module of Node that nothing is used of is left out; others may be imported for what they do.
    treeshake: { moduleSideEffects: (name) => !name.startsWith('node:') },
    plugins: [
      { name: 'kit', resolveId: (name) => inKit(name, 'js') },
      {
        name: 'shorter',
        renderChunk(code) {
          const shorter = withoutRepeated(code, declared)
          return withHalfIndents(shorter, this.parse(shorter))
        },
      },
    ],
    // A circle would decide by the order of imports what a module sees: refused, as is all else that rollup doubts.
    onLog: (_, { code, message }) => {
      if (!HARMLESS.has(code ?? '')) throw new Error(message)
    },
  })
  const { output } = await building.write({
    dir: join(folder, 'dist'),
    chunkFileNames: '[name].js',
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    generatedCode: 'es2015',
    manualChunks: (module, { getModuleInfo }) =>
      input.includes(module) || !isShared(module, getModuleInfo) ? undefined : SHARED,
  })
  await building.close()
  const files = new Set(output.map(({ fileName }) => fileName))
  const imports = output.flatMap((each) => (each.type === 'chunk' ? each.imports : []))
  const others = imports.filter((each) => !files.has(each))
  // The kit within it may need what only some packages have.
  const missing = undeclared(others, manifest)
  if (missing.length > 0)
    throw new Error(`${manifest.name} has no dependency ${missing.join(', ')}`)
}

/** What the declarations say beside it, which editors show, and what is in the tables of MISTAKES.md. */
function withoutRepeated(code: string, declared: Bundle['declared']): string {
  return code
    .replaceAll(COMMENT, (comment) => (declared.has(inOneLine(comment)) ? '' : comment))
    .replaceAll(/^ *\/\/ Mistake .*\n(?: *\/\/ .*\n)*/gm, '')
}

function commentsIn(code: string): readonly string[] {
  return (code.match(COMMENT) ?? []).map(inOneLine)
}

function inOneLine(comment: string): string {
  return comment
    .replaceAll(/\n *\* ?/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The compiler indents by four spaces, which makes up a tenth of a package. Lines within a template are text. */
function withHalfIndents(code: string, program: unknown): string {
  const texts = textsIn(program)
  return code.replaceAll(/^ {4,}/gm, ({ length }, at: number) => {
    const isText = texts.some(({ start, end }) => start < at && at <= end)
    return ' '.repeat(isText ? length : length - 2 * Math.floor(length / 4))
  })
}

/** Where the texts of templates are. */
function textsIn(node: unknown): readonly { readonly start: number; readonly end: number }[] {
  if (typeof node !== 'object' || node === null) return []
  const { type, start, end } = node as { type?: string; start: number; end: number }
  return type === 'TemplateElement' ? [{ start, end }] : Object.values(node).flatMap(textsIn)
}

/** What the compiler has made of what somebody imports from there; `null` for everything else. */
function inKit(name: string, ending: 'js' | 'd.ts'): string | null {
  if (!name.startsWith(KIT)) return null
  return join(root, 'packages', 'kit', 'build', `${name.slice(KIT.length)}.${ending}`)
}

/** A dependency, or a module of Node. */
function isExternal(name: string): boolean {
  return !name.startsWith('.') && !isAbsolute(name) && !name.startsWith(KIT)
}

/**
 * Whether an entry needs a module at its start-up, and another entry, or what is imported later, needs it as well. A program must
 * not be imported by what it imports later: it waits for that.
 */
function isShared(module: string, infoOf: GetModuleInfo): boolean {
  const seen = new Set([module])
  // A set hands out what is added during the walk.
  for (const each of seen) for (const importer of infoOf(each)?.importers ?? []) seen.add(importer)
  const above = [...seen].map(infoOf)
  const entries = above.filter((info) => info?.isEntry === true)
  const later = above.filter((info) => info?.dynamicImporters.length !== 0)
  return entries.length > 0 && new Set([...entries, ...later]).size > 1
}

/** Answers all of them. */
async function declare(folder: string, entries: readonly string[]): Promise<string> {
  const building = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(folder, 'build', `${name}.d.ts`)])),
    external: isExternal,
    // It tells how long plugins take.
    checks: { pluginTimings: false },
    plugins: [
      { name: 'kit', resolveId: (name) => inKit(name, 'd.ts') },
      dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false }),
      { name: 'comments', renderChunk: onLinesOfTheirOwn },
    ],
  })
  const { output } = await building.write({
    dir: join(folder, 'dist'),
    chunkFileNames: '[name].d.ts',
    codeSplitting: { groups: [{ name: SHARED, minShareCount: 2 }] },
  })
  await building.close()
  return output.map((each) => (each.type === 'chunk' ? each.code : '')).join('\n')
}

/** Comments, which the plugin writes behind what stands before them: editors would show them there. */
function onLinesOfTheirOwn(code: string): string {
  return code.replaceAll(/(?<=\S) *(\/\*\* .*? \*\/) ?/g, '\n$1\n')
}
