// Checks options at start-up, and reads them safe from a polluted prototype.

/** Says what is wrong with the value of one option, if anything is. */
export type OptionCheck = (value: unknown) => string | undefined

/**
 * Checks options at start-up, so that a mistake never waits for the first request. One that is `undefined` counts as left out.
 *
 * @param required Those that must be stated: their checks say what is wrong with `undefined`.
 * @throws TypeError that names the factory and the option and, since that may be a secret, not its value.
 */
export function checkOptions(
  factory: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly string[] = [],
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`${factory}: options must be an object`)
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) {
      const known = Object.keys(checks).join(', ')
      // Mistake `…: unknown option …`: The name is misspelt, or the option belongs to another function. The message lists the
      // options of this one.
      throw new TypeError(`${factory}: unknown option ${JSON.stringify(name)}, known are ${known}`)
    }
    const complaint = value === undefined ? undefined : check(value)
    if (complaint !== undefined) throw new TypeError(`${factory}: ${name} ${complaint}`)
  }
  // What is used is such a copy: a member that is not enumerable is not in it.
  const stated = ownMembers<object>(options)
  const missing = required.find((name) => Reflect.get(stated, name) === undefined)
  if (missing !== undefined) {
    checkArgument(factory, missing, checks[missing]?.(undefined) ?? 'must be stated')
  }
}

/** For an argument that is no option: a caller without types may pass anything. @throws TypeError if there is a complaint. */
export function checkArgument(
  caller: string,
  argument: string,
  complaint: string | undefined,
): void {
  if (complaint !== undefined) throw new TypeError(`${caller}: ${argument} ${complaint}`)
}

/** @param max Seconds; a bound that keeps a misplaced unit, or `Infinity`, from turning a check off. */
export function seconds(min: number, max: number): OptionCheck {
  return (value) =>
    typeof value === 'number' && value >= min && value <= max
      ? undefined
      : `must be a number of seconds from ${min} to ${max}`
}

/** A whole number, 1 or more. @param noun What is counted, for the complaint. */
export function countUpTo(max: number, noun?: string): OptionCheck {
  return (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max
      ? undefined
      : `must be a number ${noun === undefined ? '' : `of ${noun} `}from 1 to ${max}`
}

/** @param description What follows "must be". */
export function mustBe(description: string, holds: (value: unknown) => boolean): OptionCheck {
  return (value) => (holds(value) ? undefined : `must be ${description}`)
}

export const isBoolean: OptionCheck = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false'

export const isFunction: OptionCheck = (value) =>
  typeof value === 'function' ? undefined : 'must be a function'

export const isText: OptionCheck = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a string that is not empty'

/** A list without holes, made first: `every` passes over what is missing in `[, 'a']`. */
export const isTextList: OptionCheck = (value) =>
  Array.isArray(value) &&
  value.length > 0 &&
  Array.from<unknown>(value).every((each) => isText(each) === undefined)
    ? undefined
    : 'must be a list of strings that are not empty'

/** The complaint does not repeat the text: it may hold credentials. */
export const isAbsoluteUrl: OptionCheck = (value) => {
  const url = URL.canParse(String(value)) ? new URL(String(value)) : undefined
  // A template writes "undefined" for a variable that is not set, as a host or before a port.
  const isSet = url !== undefined && url.hostname !== 'undefined' && url.protocol !== 'undefined:'
  return isSet ? undefined : 'is not an absolute URL: is an environment variable unset?'
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a host, as `URL` spells it, is this machine: what goes there without TLS crosses no network. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.has(hostname)
}

/** It must be https, or on this machine. @param allowInsecure `undefined` where the caller has no such option to name. */
export function urlComplaint(url: string, allowInsecure?: boolean): string | undefined {
  const complaint = isAbsoluteUrl(url)
  if (complaint !== undefined) return complaint
  const { protocol, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return 'must not contain credentials'
  if (protocol === 'https:') return undefined
  if (protocol !== 'http:') return 'must begin with https:'
  if (isLoopback(hostname) || allowInsecure === true) return undefined
  return allowInsecure === undefined
    ? 'must begin with https: (http: is for the loopback alone)'
    : 'must begin with https: (allowInsecure: true permits http: beyond the loopback)'
}

/** A URL that is https, or on this machine. @throws TypeError, without the URL: it may hold credentials. */
export function secureUrl(
  caller: string,
  name: string,
  url: string | URL,
  allowInsecure: boolean,
): URL {
  checkArgument(caller, name, urlComplaint(String(url), allowInsecure))
  return new URL(url)
}

export function oneOf(...values: readonly unknown[]): OptionCheck {
  return (value) =>
    values.includes(value) ? undefined : `must be one of ${values.map(String).join(', ')}`
}

export const isClock: OptionCheck = (value) =>
  hasMethods(value, 'now', 'monotonic', 'after')
    ? undefined
    : 'must have the functions now, monotonic and after'

/** An own member: nothing that pollutes `Object.prototype`. What decides about a request is read so, or by {@link ownMembers}. */
export function own<Members extends object, Name extends keyof Members>(
  members: Members,
  name: Name,
): Members[Name] | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** A member of an object or of its class, but not of `Object.prototype`, the end of every chain of prototypes. */
export function memberOf(members: object, name: string | symbol): unknown {
  let owner: object | null = members
  while (owner !== null && !Object.hasOwn(owner, name)) {
    owner = Reflect.getPrototypeOf(owner)
  }
  const isPollution =
    owner === null || (owner !== members && Reflect.getPrototypeOf(owner) === null)
  return isPollution ? undefined : (Reflect.get(members, name) as unknown)
}

const NOTHING: object = Object.freeze(Object.create(null) as object)

/** For functions of others that read options at request time: no member, not even inherited. New each time: lru-cache writes to it. */
export function noOptions(): object {
  return Object.create(NOTHING) as object
}

/** A copy of the own members that inherits from nothing: each of its members can be read as usual. */
export function ownMembers<Members extends object>(members: Members): Members {
  return Object.assign(Object.create(null) as object, members)
}

/** Of an object, or of a function such as a class with static ones. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const holder = Object(value) as object
  const isHolder = holder === value
  return isHolder && names.every((name) => typeof Reflect.get(holder, name) === 'function')
}
