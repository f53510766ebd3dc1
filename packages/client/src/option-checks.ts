import { DPOP_FORMS, dpopAlgorithm, type DpopOptions, isDpop } from './dpop-options.ts'
import { createDpop, type Dpop } from './dpop.ts'
import type { Clock } from './time.ts'

// What the options of all clients have in common: their checks at start-up, and what some of them become.

/** Returns what is wrong with the value of an option, or `undefined`. */
export type Check = (value: unknown) => string | undefined

export function mustBe(description: string, holds: (value: unknown) => boolean): Check {
  return (value) => (holds(value) ? undefined : `must be ${description}`)
}

export const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
export const isFunction = (value: unknown): boolean => typeof value === 'function'
export const isCredential: Check = mustBe(
  'a string that is not empty, or a function that gives one',
  (value) => isText(value) || isFunction(value),
)

const IS_NO_URL = 'is not an absolute URL: is an environment variable unset?'

export const isUrlOption: Check = (value) =>
  isText(value) || value instanceof URL ? undefined : IS_NO_URL
export const isOriginList: Check = mustBe(
  'a list of origins, [] for a client that only uses get',
  (value) => Array.isArray(value) && value.every(isText),
)
export const isTimeout: Check = mustBe('a number of seconds from 0.1 to 300', (value) =>
  isSeconds(value, 0.1, 300),
)
export const isBoolean: Check = mustBe('true or false', (value) => typeof value === 'boolean')
export const isClock: Check = mustBe(
  'an object with the functions now, monotonic and after',
  (value) => hasMethods(value, 'now', 'monotonic', 'after'),
)
export const isDpopOption: Check = mustBe(DPOP_FORMS, isDpop)

/**
 * Checks options at start-up, so that a mistake never waits for the first request.
 *
 * @throws TypeError that names the option and, since it may be a secret, not its value.
 */
export function checkOptions(
  caller: string,
  options: unknown,
  checks: Readonly<Record<string, Check>>,
  required: ReadonlySet<string>,
): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${caller}: options must be an object`)
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(checks, name)) {
      const known = Object.keys(checks).join(', ')
      throw new TypeError(`${caller}: unknown option ${name}, known are ${known}`)
    }
  }
  for (const [name, check] of Object.entries(checks)) {
    const value: unknown = Object.hasOwn(options, name) ? Reflect.get(options, name) : undefined
    const isLeftOut = value === undefined && !required.has(name)
    const complaint = isLeftOut ? undefined : check(value)
    if (complaint !== undefined) throw new TypeError(`${caller}: ${name} ${complaint}`)
  }
}

/** The same without a prototype: what a polluted `Object.prototype` has is no option. */
export function ownMembers<Members extends object>(members: Members): Members {
  return Object.assign(Object.create(null) as Members, members)
}

export function dpopOf(dpop: boolean | DpopOptions, clock: Clock): Dpop | undefined {
  return dpop === false ? undefined : createDpop(dpopAlgorithm(dpop), clock)
}

/**
 * The origins that may get the token, as `URL` writes them.
 *
 * @throws TypeError
 */
export function originSet(
  caller: string,
  origins: readonly string[],
  allowInsecure: boolean,
): ReadonlySet<string> {
  return new Set(
    origins.map((text) => {
      const url = secureUrl(caller, 'each of origins', text, allowInsecure)
      if (url.href !== `${url.origin}/`) {
        throw new TypeError(`${caller}: each of origins must be an origin, without a path`)
      }
      // `URL` takes it for a host of that name, which no request is for.
      if (url.hostname.includes('*')) {
        throw new TypeError(`${caller}: each of origins must be one origin, without *: list each`)
      }
      return url.origin
    }),
  )
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * A URL that is https, or on this machine.
 *
 * @throws TypeError, without the URL: it may hold credentials.
 */
export function secureUrl(
  caller: string,
  name: string,
  text: string | URL,
  allowInsecure: boolean,
): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : undefined
  // A template writes "undefined" for a variable that is not set, as a host or before a port.
  if (url === undefined || url.hostname === 'undefined' || url.protocol === 'undefined:') {
    throw new TypeError(`${caller}: ${name} ${IS_NO_URL}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`${caller}: ${name} must not contain credentials`)
  }
  const isSecure = url.protocol === 'https:'
  const isAllowed = url.protocol === 'http:' && (LOOPBACK.has(url.hostname) || allowInsecure)
  if (!isSecure && !isAllowed) {
    throw new TypeError(
      `${caller}: ${name} must begin with https: (allowInsecure: true permits http: beyond the loopback)`,
    )
  }
  return url
}

export function isSeconds(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max
}

export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => isFunction(Reflect.get(Object(value), name)))
}
