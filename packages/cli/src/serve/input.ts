// Readers for the JSON of the configuration and of requests. Each names the place of a mistake.

/** Reads a value that somebody else wrote, or throws an `InputError`. */
export type Read<Value> = (value: unknown, where: string) => Value

/** What is wrong with a configuration or a request. It names members, and never shows a value. */
export class InputError extends Error {}

/** The members that an object may have; it need not have any. */
type Members<Shape extends Readonly<Record<string, Read<unknown>>>> = {
  readonly [Name in keyof Shape]?: ReturnType<Shape[Name]> | undefined
}

export function objectOf<Shape extends Readonly<Record<string, Read<unknown>>>>(
  shape: Shape,
): Read<Members<Shape>> {
  return (value, where) => {
    const members = anyObject(value, where)
    const read = Object.entries(members).map(([name, member]): [string, unknown] => {
      const reader = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (reader === undefined) {
        const known = Object.keys(shape).join(', ')
        throw new InputError(`${where}: there is no ${JSON.stringify(shown(name))}, but ${known}`)
      }
      return [name, reader(member, `${where}: ${name}`)]
    })
    // Each member was read by the reader of its name.
    return Object.fromEntries(read) as Members<Shape>
  }
}

/** An object with any names, each with a value of one kind. */
export function recordOf<Value>(reader: Read<Value>): Read<ReadonlyMap<string, Value>> {
  return (value, where) =>
    new Map(
      Object.entries(anyObject(value, where)).map(([name, member]) => [
        name,
        reader(member, `${where}: ${JSON.stringify(shown(name))}`),
      ]),
    )
}

export function listOf<Value>(reader: Read<Value>, max: number): Read<readonly Value[]> {
  return (value, where) => {
    if (!Array.isArray(value) || value.length > max) {
      throw new InputError(`${where} must be a list of at most ${max}`)
    }
    return value.map((each: unknown, at) => reader(each, `${where}: number ${at + 1}`))
  }
}

export function oneOf<const Value>(...values: readonly Value[]): Read<Value> {
  return (value, where) => {
    const found = values.find((each) => each === value)
    if (found === undefined) throw new InputError(`${where} must be one of ${values.join(', ')}`)
    return found
  }
}

export const anyObject: Read<Readonly<Record<string, unknown>>> = (value, where) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError(`${where} must be an object`)
  }
  return value as Readonly<Record<string, unknown>> // checked just before
}

export const someText: Read<string> = (value, where) => {
  if (typeof value !== 'string' || value === '') {
    throw new InputError(`${where} must be a text that is not empty`)
  }
  return value
}

export const anyText: Read<string> = (value, where) => {
  if (typeof value !== 'string') throw new InputError(`${where} must be a text`)
  return value
}

/** @param max Characters. */
export function textUpTo(max: number): Read<string> {
  return (value, where) => {
    const text = someText(value, where)
    if (text.length > max) throw new InputError(`${where} must have at most ${max} characters`)
    return text
  }
}

export const seconds: Read<number> = (value, where) => {
  // As far as a date can show it, here and a hundred years from now.
  if (typeof value !== 'number' || !(Math.abs(value) <= MAX_SECONDS)) {
    throw new InputError(`${where} must be a number of seconds`)
  }
  return value
}

export const duration: Read<number> = (value, where) => {
  if (seconds(value, where) < 0) throw new InputError(`${where} must be 0 or more`)
  return Number(value)
}

/** For what a timer waits for: Node's take no more than 24 days. */
export const shortDuration: Read<number> = (value, where) => {
  if (duration(value, where) > MAX_TIMER) throw new InputError(`${where} must be a day at most`)
  return Number(value)
}

export const count: Read<number> = (value, where) => {
  if (!Number.isSafeInteger(value) || Number(value) < 1) {
    throw new InputError(`${where} must be a whole number, 1 or more`)
  }
  return Number(value)
}

const MAX_SECONDS = 1e10
/** Seconds. */
const MAX_TIMER = 86_400

/** Names are shown, so that a misspelt one is found; a long one in part. */
function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}...` : name
}
