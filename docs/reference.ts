import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import {
  Application,
  Converter,
  type DeclarationReflection,
  IntersectionType,
  type ParameterReflection,
  ReflectionKind,
  ReflectionType,
  type TypeDocOptions,
} from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'

import { type Entry, pathFrom, root } from './entries.ts'
import { headOf, type Page, withoutLinks } from './pages.ts'
import { REFERENCE, SECTIONS } from './sections.ts'

// What the packages export, as pages in Markdown: typedoc reads the sources, and a page says of each export what its comment
// says. The pages look as all others do, and can be searched with them.

/** What typedoc reads, a file for each module, and what it writes. */
const WORK = 'docs/.reference'
const PAGES = `${WORK}/pages`

/** @throws Error if a comment is wrong, such as a link in it that leads nowhere. */
export async function referenceOf(
  documents: readonly Page[],
  entries: readonly Entry[],
): Promise<readonly Page[]> {
  rmSync(join(root, WORK), { recursive: true, force: true })
  const options: TypeDocOptions & PluginOptions = {
    name: 'Reference',
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: entries.map((entry) => writeEntry(entry, documents)),
    tsconfig: join(import.meta.dirname, 'tsconfig.reference.json'),
    basePath: root,
    displayBasePath: root,
    outputs: [{ name: 'markdown', path: join(root, PAGES) }],
    router: 'member',
    readme: 'none',
    entryFileName: 'index',
    treatWarningsAsErrors: true,
    // Those of types are the compiler's to find: `pnpm check`.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeInternal: true,
    // The repository has no address yet that they could lead to.
    disableSources: true,
    // Its links lead nowhere where a class extends one of another package.
    includeHierarchySummary: false,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    propertyMembersFormat: 'table',
    typeDeclarationFormat: 'table',
    // What people call comes before the types that it takes.
    groupOrder: ['Functions', 'Classes', 'Variables', '*'],
    kindSortOrder: ['Module', 'Function', 'Class', 'Variable', 'Interface', 'TypeAlias'],
  }
  const app = await Application.bootstrapWithPlugins(options)
  joinObjects(app)
  const project = await app.convert()
  if (project === undefined) throw new Error('the sources cannot be read')
  app.validate(project)
  await app.generateOutputs(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings()) {
    throw new Error('the comments of the sources are not right')
  }
  return entries.flatMap((entry) => pagesOfModule(entry, entries))
}

/** Of `{ a: A } & { b: B }` typedoc shows no member: the members of both are one object. */
function joinObjects({ converter }: Application): void {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const { Parameter, Property } = ReflectionKind
    const found = [Parameter, Property].flatMap((kind) => project.getReflectionsByKind(kind))
    // Those of these kinds have a type.
    for (const typed of found as (ParameterReflection | DeclarationReflection)[]) {
      if (!(typed.type instanceof IntersectionType)) continue
      const objects = typed.type.types.filter((each) => each instanceof ReflectionType)
      const [first, ...others] = objects
      if (first === undefined || objects.length < typed.type.types.length) continue
      for (const { declaration } of others) {
        for (const child of declaration.children ?? []) {
          child.parent = first.declaration
          first.declaration.addChild(child)
        }
        delete declaration.children
        project.removeReflection(declaration)
      }
      typed.type = first
    }
  })
}

/** The page of a module, and one for each of its exports. */
function pagesOfModule({ module }: Entry, entries: readonly Entry[]): readonly Page[] {
  const folder = `${PAGES}/${module}`
  const inside = entries
    .filter((each) => each.module.startsWith(`${module}/`))
    .map((each) => each.module.slice(module.length + 1))
  const paths = globSync('**/*.md', {
    cwd: join(root, folder),
    exclude: (path) => inside.some((name) => path === name),
  })
  return paths.toSorted(moduleFirst).map((path) => pageOf(module, path))
}

/** @param path Of what typedoc has written, from the folder of the module. */
function pageOf(module: string, path: string): Page {
  const section = SECTIONS.find(({ folder }) => folder === REFERENCE)
  if (section === undefined) throw new Error('there is no section for the reference')
  const written = readFileSync(join(root, PAGES, module, path), 'utf8')
  const [, kind = 'Module', name = module] = /^# ([A-Z][\w ]+): (.*)$/m.exec(written) ?? []
  const text = written
    .replace(/^# .*$/m, `# ${name}`)
    // In a cell of a table, each on a line of its own.
    .replaceAll(/ \*\*(Default|See|Throws|Deprecated)\*\* /g, '<br>**$1** ')
  // As typedoc writes a type whose members it does not show.
  if (text.includes('`object` & `object`')) throw new Error(`${path} of ${module} hides members`)
  const short = module.replace('@portcullis/', '')
  const head = headOf(text, path)
  const isModule = path === 'index.md'
  return {
    ...head,
    path: `${PAGES}/${module}/${path}`,
    address: `${REFERENCE}/${short}/${path.replace(/\.md$/, '')}`,
    section,
    label: isModule ? short : head.title,
    kind: isModule ? 'Module' : `${kind} of ${module}`,
    text,
    ...(!isModule && { parent: `${REFERENCE}/${short}/index` }),
  }
}

function moduleFirst(a: string, b: string): number {
  return Number(b === 'index.md') - Number(a === 'index.md') || (a < b ? -1 : 1)
}

/** Typedoc takes the names of modules, and what they are for, from comments. */
function writeEntry(entry: Entry, documents: readonly Page[]): string {
  const { module, source } = entry
  const path = join(root, WORK, `${module.replace('@portcullis/', '')}.ts`)
  const comment = [...introductionOf(entry, documents).split('\n'), '', `@module ${module}`]
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(
    path,
    `/**\n${comment.map((line) => ` * ${line}\n`).join('')} */\nexport * from '${pathFrom(dirname(path).slice(root.length + 1), source)}'\n`,
  )
  return path
}

/**
 * The first paragraph of the README of a package, with the texts of links alone, which are relative to the package; of any other
 * module the first comment of its source.
 */
function introductionOf({ folder, source, isMain }: Entry, documents: readonly Page[]): string {
  if (!isMain) {
    const [comment = ''] = /^(?:\/\/ .*\n)+/m.exec(readFileSync(join(root, source), 'utf8')) ?? []
    return comment.replaceAll(/^\/\/ /gm, '').trim()
  }
  const readme = documents.find(({ path }) => path === `${folder}/README.md`)?.text ?? ''
  const [, paragraph = ''] = /^# [^\n]*\n\n(.*?)\n\n/s.exec(readme) ?? []
  return withoutLinks(paragraph)
}
