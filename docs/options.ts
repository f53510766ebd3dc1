import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'

import { root } from './entries.ts'
import { tableOf } from './parts.ts'

// Options as their declarations document them, and the tables of options that are written from these.

/** How an interface declares an option. */
interface Declaration {
  readonly isRequired: boolean
  /** The tag `@default` of its documentation. */
  readonly stated: string | undefined
  /** What its documentation says before the tags. */
  readonly meaning: string
}

export type Declarations = ReadonlyMap<string, Declaration>

/**
 * The options of interfaces of a package. What the first one requires must be stated, nothing else.
 *
 * @throws Error if the sources of the package, and those of core, do not have all of the interfaces.
 */
export function declarationsOf(name: string, ...interfaces: readonly string[]): Declarations {
  const sources = [name, 'core'].flatMap((each) =>
    globSync(`packages/${each}/src/**/*.ts`, { cwd: root }).map((path) =>
      readFileSync(join(root, path), 'utf8'),
    ),
  )
  const all = interfaces.flatMap((each, at) =>
    [...membersOf(sources, each)].map(
      ([member, declaration]) =>
        [member, at === 0 ? declaration : { ...declaration, isRequired: false }] as const,
    ),
  )
  return firstOfEach(all)
}

/** @throws Error if no source has the interface. */
function membersOf(sources: readonly string[], name: string): Declarations {
  const declaration = sources
    .filter((source) => source.includes(`export interface ${name}`))
    .flatMap((source) => parsed(source).statements.filter(ts.isInterfaceDeclaration))
    .find((each) => each.name.text === name)
  if (declaration === undefined) throw new Error(`there is no interface ${name}`)
  const own = declaration.members.filter(ts.isPropertySignature).map((member) => {
    const stated = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default')
    const [text] = ts.getJSDocCommentsAndTags(member)
    return [
      member.name.getText(),
      {
        isRequired: member.questionToken === undefined,
        stated: stated && wordsOf(stated),
        meaning: text === undefined ? '' : wordsOf(text),
      },
    ] as const
  })
  const inherited = (declaration.heritageClauses ?? []).flatMap(({ types }) =>
    types.flatMap((type) => inheritedMembersOf(sources, type)),
  )
  return firstOfEach([...own, ...inherited])
}

const parsed = (source: string) => ts.createSourceFile('a.ts', source, ts.ScriptTarget.Latest, true)

function wordsOf({ comment }: Pick<ts.JSDoc | ts.JSDocTag, 'comment'>): string {
  return (ts.getTextOfJSDocComment(comment) ?? '').replaceAll(/\s+/g, ' ').trim()
}

/** Of `extends Others`, and of `extends Pick<Others, 'a' | 'b'>` or `Omit`. */
function inheritedMembersOf(
  sources: readonly string[],
  { expression, typeArguments: [of, names] = [] as never }: ts.ExpressionWithTypeArguments,
): readonly (readonly [string, Declaration])[] {
  const form = expression.getText()
  if (form !== 'Pick' && form !== 'Omit') return [...membersOf(sources, form)]
  const named = new Set(names?.getText().match(/\w+/g))
  const all = membersOf(sources, of?.getText().replace(/<.*/, '') ?? '')
  return [...all].filter(([name]) => named.has(name) === (form === 'Pick'))
}

/** An interface comes before what it extends. */
function firstOfEach(members: readonly (readonly [string, Declaration])[]): Declarations {
  const found = new Map<string, Declaration>()
  for (const [name, declaration] of members) if (!found.has(name)) found.set(name, declaration)
  return found
}

/**
 * A row for each option, in their order.
 *
 * @throws Error for an option whose declaration says nothing.
 */
export function tableOfOptions(name: string, ...interfaces: readonly string[]): string {
  return tableOfDeclarations(declarationsOf(name, ...interfaces), interfaces[0])
}

/** The same without what the interface shares with others. */
export function tableOfOwnOptions(
  name: string,
  interfaceName: string,
  ...others: readonly string[]
): string {
  const shared = declarationsOf(name, ...others)
  const own = [...declarationsOf(name, interfaceName)].filter(([option]) => !shared.has(option))
  return tableOfDeclarations(new Map(own), interfaceName)
}

function tableOfDeclarations(declarations: Declarations, name = ''): string {
  const rows = [...declarations].map(([option, declaration]) => {
    const { meaning } = declaration
    if (meaning === '') throw new Error(`${name}: say what ${option} is for`)
    return [`\`${option}\``, defaultOf(declaration), meaning]
  })
  return tableOf(['Option', 'Default', 'Meaning'], rows)
}

/** What is required, and what has a default, without what it means. */
export function tableOfDefaults(name: string, ...interfaces: readonly string[]): string {
  const rows = [...declarationsOf(name, ...interfaces)]
    .filter(([, { isRequired, stated }]) => isRequired || stated !== undefined)
    .map(([option, declaration]) => [`\`${option}\``, defaultOf(declaration)])
  return tableOf(['Option', 'Default'], rows)
}

/** A value is code, and everything else is words. */
function defaultOf({ isRequired, stated }: Declaration): string {
  if (isRequired) return 'required'
  if (stated === undefined) return 'none'
  const isValue = /^(?:true|false|'[^']*'|\{.*\}|\[.*\]|[\w.]+\(\)|globalThis\.\w+)$/.test(stated)
  return isValue
    ? `\`${stated}\``
    : stated.replace(/^\d+(?:_\d{3})+/, (digits) => digits.replaceAll('_', ','))
}
