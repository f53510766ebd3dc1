import { memberOf } from '../input/unread-json.ts'
import { once, referredTo } from './references.ts'

// Fills in the parameters that a request must have: those of the path, and those of the query that are required.

/** How many parameters of a list are looked at. */
const MOST_PARAMETERS = 50
/** Characters. */
const LONGEST_PATH = 2000
const LONGEST_VALUE = 200

export interface Filled {
  readonly path: string
  readonly query: string
  /** The names of all parameters of the path and the query. */
  readonly names: readonly string[]
}

interface Parameter {
  readonly name: string
  readonly place: 'path' | 'query'
  readonly value: string | undefined
}

/** @param values Those that the user has stated, by name. */
export function parameterFilling(document: unknown, values: Readonly<Record<string, string>>) {
  const parametersOf = once((part) => parameterOf(referredTo(part, document), document))
  const parametersIn = once((list) => {
    const parts: readonly unknown[] = Array.isArray(list) ? list.slice(0, MOST_PARAMETERS) : []
    return new Map(parts.flatMap(parametersOf).map((each) => [`${each.place} ${each.name}`, each]))
  })

  /** @returns `undefined` for a path or a query that no request can have. */
  return (template: string, own: unknown, shared: unknown): Filled | undefined => {
    if (!isPath(template)) return undefined
    const lists = [parametersIn(own), parametersIn(shared)]
    const names = new Set<string>()
    /** A parameter of the operation is in place of one that all operations of the path share. */
    const valueOf = (name: string, place: Parameter['place']) => {
      names.add(name)
      if (Object.hasOwn(values, name)) return values[name] ?? '1'
      return (
        lists.find((list) => list.has(`${place} ${name}`))?.get(`${place} ${name}`)?.value ?? '1'
      )
    }
    const path = template.replaceAll(/\{([^{}]*)\}/g, (_whole, name: string) =>
      encodeURIComponent(valueOf(name, 'path')),
    )
    if (!isPath(path)) return undefined
    const stated = new Map<string, string>()
    for (const list of lists) {
      for (const { name, place } of list.values()) {
        if (place === 'query') stated.set(name, valueOf(name, place))
      }
    }
    const query = new URLSearchParams([...stated]).toString()
    return query.length > LONGEST_PATH ? undefined : { path, query, names: [...names] }
  }
}

/** What a URL has as it is: without a query, and without steps to another path. */
function isPath(text: string): boolean {
  return (
    text.length <= LONGEST_PATH &&
    /^\/[^\\?#\p{C}]*$/u.test(text) &&
    !/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(text)
  )
}

/** Nothing for one that a request need not have. */
function parameterOf(parameter: unknown, document: unknown): readonly Parameter[] {
  const name = memberOf(parameter, 'name')
  const place = memberOf(parameter, 'in')
  if (typeof name !== 'string' || name.length > LONGEST_VALUE) return []
  if (place !== 'path' && place !== 'query') return []
  if (place === 'query' && memberOf(parameter, 'required') !== true) return []
  return [{ name, place, value: exampleOf(parameter, document) }]
}

function exampleOf(parameter: unknown, document: unknown): string | undefined {
  const schema = referredTo(memberOf(parameter, 'schema'), document)
  const candidates = [
    memberOf(parameter, 'example'),
    memberOf(referredTo(firstOf(memberOf(parameter, 'examples')), document), 'value'),
    memberOf(schema, 'example'),
    firstOf(memberOf(schema, 'examples')),
    memberOf(schema, 'default'),
    memberOf(schema, 'const'),
    firstOf(memberOf(schema, 'enum')),
  ]
  return candidates.map(textOf).find((text) => text !== undefined)
}

function firstOf(several: unknown): unknown {
  return typeof several === 'object' && several !== null ? Object.values(several)[0] : undefined
}

/** `undefined` for what cannot be in a path: an object, nothing, or what leads to another path. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_VALUE) return undefined
  return /^\.{1,2}$|\p{Cs}/u.test(value) ? undefined : value
}
