import { nameOf, read, sources } from './sources.ts'

// What a source recognizes by identity: another copy of the same source makes a stranger of it. docs/identities.md says of each what
// two copies in one process do.

/** What is one for the whole process, or a check of the platform's own: copies of ours share it. */
const PLATFORM =
  /^(?:AbortSignal|AggregateError|ArrayBuffer|Blob|Error|FormData|KeyObject|RangeError|ReferenceError|Request|Response|TypeError|URL|URLSearchParams|Uint8Array|WeakRef)$/

/** The kinds of identities, and how each is written. The first group is its name. */
const KINDS: Readonly<Record<string, RegExp>> = {
  class: /^(?:export )?(?:abstract )?class (\w+)/gm,
  'private field': /^ {2}(?:static )?(?:readonly )?(#\w+)\b(?!\()/gm,
  WeakMap: /(?:const|let) (\w+)[^=\n]*= new Weak(?:Map|Set)\b/g,
  symbol: /\b(Symbol(?:\.for)?\([^)]*\))/g,
  // Of a list of classes, each has its row.
  instanceof: /\binstanceof (?!each\b)([\w.]+)/g,
}

/** Of one source, as `instanceof AuthError`. */
export function identitiesIn(text: string): readonly string[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
  const found = Object.entries(KINDS).flatMap(([kind, pattern]) =>
    [...code.matchAll(pattern)]
      .map(([, name = '']) => name)
      .filter((name) => kind !== 'instanceof' || !PLATFORM.test(name))
      .map((name) => `${kind} ${name}`),
  )
  const loose = code.match(/new Weak(?:Map|Set)\b/g)?.length ?? 0
  const named = found.filter((each) => each.startsWith('WeakMap')).length
  // One that is not the value of a name is found as well.
  return [...new Set(found), ...Array.from({ length: loose - named }, () => 'WeakMap')].toSorted()
}

/** By source, such as `core/request/used-proofs`. The row of a class says what `instanceof` with it does. */
export function allIdentities(): ReadonlyMap<string, readonly string[]> {
  const found = sources.map((source) => [nameOf(source), identitiesIn(read(source))] as const)
  const classes = new Set(found.flatMap(([, identities]) => identities))
  const hasRow = (identity: string) => classes.has(identity.replace('instanceof ', 'class '))
  return new Map(
    found
      .map(([name, identities]) => {
        const own = identities.filter((each) => !each.startsWith('instanceof ') || !hasRow(each))
        return [name, own] as const
      })
      .filter(([, identities]) => identities.length > 0),
  )
}
