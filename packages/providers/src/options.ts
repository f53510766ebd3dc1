// How the options of every provider are checked at start-up.

/** Says what is wrong with the value of one option, if anything is. */
export type Check = (value: unknown) => string | undefined

type Checks = Readonly<Record<string, Check>>

/**
 * Checks options at start-up. Each of `required` must be there; one of `optional` that is `undefined` counts as left out.
 * `requiredClaims` is an option of every provider.
 *
 * @returns Their own members, so that nothing counts that somebody has put on `Object.prototype`.
 * @throws TypeError that names the provider and the option.
 */
export function checkOptions<Options extends object>(
  provider: string,
  options: Options,
  required: Checks,
  optional: Checks = {},
): Options {
  if (!isObject(options)) throw new TypeError(`${provider}: options must be an object`)
  const stated = Object.assign(Object.create(null) as object, options)
  const checks: Checks = { ...required, ...optional, requiredClaims: isClaims }
  for (const [name, value] of Object.entries(stated)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) {
      const known = Object.keys(checks).join(', ')
      throw new TypeError(`${provider}: unknown option ${JSON.stringify(name)}, known are ${known}`)
    }
    const complaint = value === undefined ? undefined : check(value)
    if (complaint !== undefined) throw new TypeError(`${provider}: ${name} ${complaint}`)
  }
  const missing = Object.keys(required).find((name) => Reflect.get(stated, name) === undefined)
  if (missing !== undefined) {
    throw new TypeError(`${provider}: ${missing} ${required[missing]?.(undefined)}`)
  }
  return stated
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Its values are checked by `createVerifier`. */
const isClaims: Check = (value) =>
  isObject(value) ? undefined : 'must be an object with the value of each claim'

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The accepted values: one or a list. */
export const isTextOrTexts: Check = (value) => {
  const texts: readonly unknown[] = Array.isArray(value) ? Array.from<unknown>(value) : [value]
  return texts.length > 0 && texts.every(isText)
    ? undefined
    : 'must be a string, or a list of strings that are not empty'
}

/** @param expected What it must be, with an example. */
export function matching(pattern: RegExp, expected: string): Check {
  return (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : `must be ${expected}`
}

/** A list, without holes, in which each fits. */
export function listOf(check: Check): Check {
  return (value) => {
    const members: readonly unknown[] = Array.isArray(value) ? Array.from<unknown>(value) : []
    if (members.length === 0) return 'must be a list that is not empty'
    return members.map((each) => check(each)).find((complaint) => complaint !== undefined)
  }
}

const HOST = /^(?!-)[a-z\d-]+(?<!-)(?:\.(?!-)[a-z\d-]+(?<!-))+$/

export function isHost(example: string): Check {
  return matching(
    HOST,
    `a host name in lower case, without "https://" and without a path, such as ${example}`,
  )
}

/** Whether it may be asked without TLS is checked by the key source. */
export function isUrl(example: string): Check {
  return (value) => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
    const isPlain = url !== undefined && `${url.origin}${url.pathname}`.replace(/\/$/, '') === value
    return isPlain ? undefined : `must be a URL without a slash at the end, such as ${example}`
  }
}
