// Checks options at start-up. It does not use the checks of core: what signs tokens must not depend on what verifies them.

/** Returns what is wrong with the value of an option, or `undefined`. */
export type Check = (value: unknown) => string | undefined

/**
 * Checks options when they are given. One that is `undefined` counts as left out.
 *
 * @throws TypeError for a wrong or misspelt one.
 */
export function checkOptions(
  caller: string,
  options: unknown,
  checks: Readonly<Record<string, Check>>,
): void {
  if (!isPlain(options)) throw new TypeError(`${caller}: the options must be an object`)
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (check === undefined) {
      const known = Object.keys(checks).join(', ')
      throw new TypeError(`${caller}: there is no option ${JSON.stringify(name)}, but ${known}`)
    }
    const complaint = value === undefined ? undefined : check(value)
    if (complaint !== undefined) throw new TypeError(`${caller}: ${name} ${complaint}`)
  }
}

export const isObject: Check = (value) => (isPlain(value) ? undefined : 'must be an object')

export const isBoolean: Check = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false'

export const isText: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a string that is not empty'

export const isString: Check = (value) =>
  typeof value === 'string' ? undefined : 'must be a string'

export const isTextList: Check = (value) =>
  Array.isArray(value) && value.every((each) => isText(each) === undefined)
    ? undefined
    : 'must be a list of strings'

export const isTextOrTexts: Check = (value) => {
  const texts: readonly unknown[] = [value].flat()
  return texts.length > 0 && texts.every((each) => isText(each) === undefined)
    ? undefined
    : 'must be a string that is not empty, or a list of such'
}

export const isSeconds: Check = (value) =>
  Number.isFinite(value) ? undefined : 'must be a number of seconds'

export const isDuration: Check = (value) =>
  Number.isFinite(value) && Number(value) >= 0
    ? undefined
    : 'must be a number of seconds, 0 or more'

export const isCount: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 1 ? undefined : 'must be a whole number, 1 or more'

export const isFunction: Check = (value) =>
  typeof value === 'function' ? undefined : 'must be a function'

export const isClock: Check = (value) =>
  isPlain(value) &&
  ['now', 'monotonic', 'after'].every((name) => typeof Reflect.get(value, name) === 'function')
    ? undefined
    : 'must have the functions now, monotonic and after'

export function oneOf(...values: readonly unknown[]): Check {
  return (value) =>
    values.includes(value) ? undefined : `must be one of ${values.map(String).join(', ')}`
}

export function listOf(...values: readonly unknown[]): Check {
  return (value) =>
    Array.isArray(value) && value.every((each) => values.includes(each))
      ? undefined
      : `must be a list of ${values.map(String).join(', ')}`
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
