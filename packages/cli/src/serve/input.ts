// Readers for the JSON of the configuration and of requests. Each names the place of a mistake.

/** Reads a value that somebody else wrote, or throws an `InputError`. */
export type Read<Value> = (value: unknown, where: string) => Value

/** What is wrong with a configuration or a request. It names members, and never shows a value. */
export class InputError extends Error {
  /** 409: something else is under way. 500: what was asked for is right, and this machine does not let us. */
  readonly status: 400 | 409 | 500

  constructor(message: string, status: 400 | 409 | 500 = 400) {
    super(message)
    this.status = status
  }
}

/** The members that an object may have; it need not have any. */
type Members<Shape extends Readonly<Record<string, Read<unknown>>>> = {
  readonly [Name in keyof Shape]?: ReturnType<Shape[Name]> | undefined
}

/** @param required Those that must be stated. */
export function objectOf<
  Shape extends Readonly<Record<string, Read<unknown>>>,
  Required extends keyof Shape & string = never,
>(
  shape: Shape,
  ...required: readonly Required[]
): Read<Members<Shape> & { readonly [Name in Required]: ReturnType<Shape[Name]> }> {
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
    const missing = required.find((name) => !Object.hasOwn(members, name))
    if (missing !== undefined) throw new InputError(`${where}: ${missing} must be stated`)
    // Each member was read by the reader of its name.
    return Object.fromEntries(read) as ReturnType<ReturnType<typeof objectOf<Shape, Required>>>
  }
}

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

function valueThat<Value>(holds: (value: unknown) => boolean, what: string): Read<Value> {
  return (value, where) => {
    if (!holds(value)) throw new InputError(`${where} must ${what}`)
    return value as Value // tested just before
  }
}

export const anyObject: Read<Readonly<Record<string, unknown>>> = valueThat(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'be an object',
)

export const anyText: Read<string> = valueThat((value) => typeof value === 'string', 'be a text')

export const someText: Read<string> = valueThat(
  (value) => typeof value === 'string' && value !== '',
  'be a text that is not empty',
)

/** @param max Characters. */
export function textUpTo(max: number): Read<string> {
  const short = valueThat<string>(
    (value) => String(value).length <= max,
    `have at most ${max} characters`,
  )
  return (value, where) => short(someText(value, where), where)
}

/** As far as a date can show it, here and a hundred years from now. */
const MAX_SECONDS = 1e10

export const seconds: Read<number> = valueThat(
  (value) => typeof value === 'number' && Math.abs(value) <= MAX_SECONDS,
  'be a number of seconds',
)

const notNegative = valueThat<number>((value) => Number(value) >= 0, 'be 0 or more')

export const duration: Read<number> = (value, where) => notNegative(seconds(value, where), where)

const aDay = valueThat<number>((value) => Number(value) <= 86_400, 'be a day at most')

/** For what a timer waits for: Node's take no more than 24 days. */
export const shortDuration: Read<number> = (value, where) => aDay(duration(value, where), where)

export const count: Read<number> = valueThat(
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  'be a whole number, 1 or more',
)

/** Names are shown, so that a misspelt one is found; a long one in part. */
function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}...` : name
}
