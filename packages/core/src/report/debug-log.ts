import type { AuthError } from '../refusal/errors.ts'
import { duration, moment, printable } from '../refusal/text.ts'
import type { KeysMessage } from './diagnostics.ts'

// The lines that NODE_DEBUG=portcullis prints: one for each refusal of a guard, and for each settled attempt to fetch keys.

const LONGEST_PATH = 256
/** More than Node takes by default. What is longer could overflow the stack of a pattern. */
const LONGEST_URL = 65_536
/** May be the signature of a token, or another secret; its dots may be written as `%2E`. */
const LONG_WORD = /(?:[\w.-]|%[\da-f]{2}){32,}/gi
const USER = /\/\/[^/]*@/g

/** Where a guard has refused something. Middleware, a mock or another platform may have put anything there. */
interface Refused {
  readonly framework: string | undefined
  readonly subject: unknown
  /** Where the headers are, if that is another object. */
  readonly request: unknown
}

export function refusalLine(error: AuthError, { framework = 'http', ...refused }: Refused): string {
  const { status, code, reason, detail, numbers } = error
  const where = `${printable(framework, 32)} ${placeOf(refused)}`
  return `refused: ${where}: ${status} ${code} ${reason}: ${detail}${fieldsOf(numbers)}`
}

const TIMES: ReadonlySet<string> = new Set(['exp', 'nbf', 'iat', 'auth_time', 'now'])

function fieldsOf(numbers: AuthError['numbers']): string {
  const fields = Object.entries(numbers).map(([name, value]) => {
    const text = TIMES.has(name) ? moment(value) : String(Math.round(value * 10) / 10)
    return `${printable(name, 32)}=${text}`
  })
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`
}

export function attemptLine(message: KeysMessage, origin: string | undefined): string {
  const { trigger, outcome, duration: took, added, removed, freshness, detail } = message
  const from = origin === undefined ? '' : ` from ${printable(origin, 100)}`
  const why = detail === undefined ? '' : `: ${printable(detail, 300)}`
  const changes = `added ${listOf(added)}, removed ${listOf(removed)}, now ${freshness}`
  return `keys${from}: ${trigger}: ${outcome} in ${duration(took)}${why}; ${changes}`
}

function listOf(thumbprints: readonly string[]): string {
  return thumbprints.length === 0 ? 'none' : thumbprints.join(' ')
}

/** The method and the path, without the query: of the framework's request or context, or of what it wraps. */
function placeOf({ subject, request }: Omit<Refused, 'framework'>): string {
  const raw = memberOf(subject, 'raw')
  const places = [subject, memberOf(subject, 'req'), raw, memberOf(raw, 'req'), request].filter(
    (each) => typeof memberOf(each, 'method') === 'string',
  )
  // Some frameworks have an object in the place of a URL, and the request of node as `raw.req`.
  const found = places.find((each) => typeof urlOf(each) === 'string') ?? places[0]
  const method = memberOf(found, 'method')
  const url = urlOf(found)
  return `${typeof method === 'string' ? word(method, 16) : '-'} ${pathOf(url)}`
}

function urlOf(value: unknown): unknown {
  return memberOf(value, 'originalUrl') ?? memberOf(value, 'url')
}

/** Own or inherited, as requests have them. A getter of somebody else may throw. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    return Reflect.get(value, name)
  } catch {
    // It has none that can be read.
  }
  return undefined
}

/** A `Request` of the platform has a whole URL, and so may the target of a request to a proxy. */
function pathOf(url: unknown): string {
  if (typeof url !== 'string') return '-'
  const target = url.slice(0, LONGEST_URL).replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
  const path = target.replace(/[?#].*$/s, '').replaceAll(USER, '//')
  return word(path === '' ? '/' : path.replaceAll(LONG_WORD, '(redacted)'), LONGEST_PATH)
}

/** Without white space, so that the line can be split at it. */
function word(text: string, max: number): string {
  return printable(text, max).replaceAll(' ', '%20')
}
