import { isTooDeep } from '@portcullis/kit/json'

import { memberOf } from '../input/unread-json.ts'
import { usageError } from '../surroundings/exit-code.ts'
import { parameterFilling } from './parameters.ts'
import { once, referredTo } from './references.ts'
import { securityOf, type TokenSecurity } from './security.ts'
import { pathAtOrigin } from './servers.ts'

// Reads from an OpenAPI description which requests a probe can send, and what each of them needs. Others may have written it.

export interface Operation {
  /** Its method and path, as the description has them. */
  readonly name: string
  readonly method: string
  readonly url: URL
  readonly security: TokenSecurity
  /** The names of those that were filled in. */
  readonly parameters: readonly string[]
}

export interface Description {
  readonly asked: readonly Operation[]
  /** The names of those that need nothing. */
  readonly open: readonly string[]
  readonly notAsked: readonly NotAsked[]
}

interface NotAsked {
  readonly what: string
  readonly why: string
}

export interface Wanted {
  /** Where the API is. */
  readonly url: URL
  /** For parameters, by name. */
  readonly values: Readonly<Record<string, string>>
  /** Whether methods are asked that may change something. */
  readonly unsafeMethods: boolean
}

/** How many operations are asked: each waits for its answers. */
const MOST_OPERATIONS = 2000

const SAFE: ReadonlySet<string> = new Set(['get', 'head'])
const UNSAFE: ReadonlySet<string> = new Set(['post', 'put', 'patch', 'delete'])
const NEVER_ASKED = ['options', 'trace', 'query', 'additionalOperations'] as const

/** @throws CommandError for what is no description, and for a value that no parameter takes. */
export function readDescription(text: string, wanted: Wanted): Description {
  const document = documentIn(text)
  const fill = parameterFilling(document, wanted.values)
  const securityIn = once((stated) => securityOf(stated, document))
  const pathOf = once((servers) => pathAtOrigin(servers, wanted.url))
  const stated = wanted.url.pathname
  const common = stated === '/' ? (pathOf(memberOf(document, 'servers')) ?? '/') : stated
  const asked: Operation[] = []
  const open: string[] = []
  const notAsked: NotAsked[] = []
  for (const [template, item, method] of operationsIn(document, notAsked)) {
    const operation = memberOf(item, method)
    const name = `${method.toUpperCase()} ${template}`
    const leaveOut = (why: string) => void notAsked.push({ what: name, why })
    const security = securityIn(memberOf(operation, 'security') ?? memberOf(document, 'security'))
    const own = memberOf(operation, 'servers') ?? memberOf(item, 'servers')
    const path = own === undefined ? common : pathOf(own)
    if (security.needs === 'nothing') open.push(name)
    else if (security.needs === 'something else') leaveOut(security.why)
    else if (!SAFE.has(method) && !wanted.unsafeMethods) leaveOut(MAY_CHANGE)
    else if (path === undefined) leaveOut('its own servers are at another origin than the URL')
    else if (asked.length === MOST_OPERATIONS) leaveOut(`only ${MOST_OPERATIONS} are asked`)
    else {
      const filled = fill(template, memberOf(operation, 'parameters'), memberOf(item, 'parameters'))
      if (filled === undefined) leaveOut('no request can have its path')
      else {
        const url = new URL(wanted.url.origin)
        url.pathname = `${path.replace(/\/$/, '')}${filled.path}`
        url.search = filled.query
        asked.push({ name, method: method.toUpperCase(), url, security, parameters: filled.names })
      }
    }
  }
  const unknown = Object.keys(wanted.values).find(
    (name) => !asked.some(({ parameters }) => parameters.includes(name)),
  )
  if (unknown === undefined) return { asked, open, notAsked }
  throw usageError(`--value ${unknown}: no operation that is asked has that parameter`)
}

const MAY_CHANGE = 'its method may change something: --unsafe-methods'

const TO_JSON = 'npx js-yaml openapi.yaml > openapi.json'

function documentIn(text: string): unknown {
  const document = jsonIn(text.replace(/^\u{feff}/u, ''))
  if (document === undefined) {
    throw usageError(`--openapi must be JSON; convert YAML first: ${TO_JSON}`)
  }
  const version = memberOf(document, 'openapi')
  if (typeof version === 'string' && /^3\.\d/.test(version)) return document
  throw usageError('--openapi must be a description of OpenAPI 3: convert one of Swagger 2.0 first')
}

/** With names that need escapes, as those of `patternProperties` do. A wrong one decides which path is asked, and nothing else. */
function jsonIn(text: string): unknown {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- its depth is known
    return isTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    // It is no JSON.
  }
  return undefined
}

type Found = readonly [template: string, item: unknown, method: string]

/** Those of methods that a probe knows. What else there is joins those that are not asked. */
function* operationsIn(document: unknown, notAsked: NotAsked[]): Generator<Found> {
  const paths = memberOf(document, 'paths')
  for (const [template, part] of Object.entries(Object(paths) as object)) {
    if (!template.startsWith('/')) continue
    const item: unknown = referredTo(part, document)
    if (typeof item !== 'object' || item === null) {
      notAsked.push({ what: template, why: 'what it refers to is not in the file' })
      continue
    }
    for (const method of [...SAFE, ...UNSAFE]) {
      if (memberOf(item, method) !== undefined) yield [template, item, method]
    }
    for (const name of NEVER_ASKED) {
      if (memberOf(item, name) === undefined) continue
      const what = `${name === 'additionalOperations' ? name : name.toUpperCase()} ${template}`
      notAsked.push({ what, why: 'a probe does not send such methods' })
    }
  }
}
