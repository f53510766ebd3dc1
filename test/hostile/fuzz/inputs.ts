import fc from 'fast-check'

/** In the place of `binary` of fast-check, which makes a table of all characters first: that takes a second. */
export const anyCharacter = fc.nat(0x10_ff_ff).map((point) => String.fromCodePoint(point))

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, true, 0, -1, '', [], {}),
)

/** A JSON object, each of whose members is of the kind named, or anything else, or left out. */
export function jsonObject(members: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  const loose = Object.entries(members).map(([name, usual]) => [name, mostly(usual, anything)])
  return fc.record(Object.fromEntries(loose) as typeof members, { requiredKeys: [] })
}

/** A JSON object that has nearly all of the members named, each of them nearly always of the kind named. */
export function nearlyAll(members: Readonly<Record<string, fc.Arbitrary<unknown>>>) {
  const loose = Object.entries(members).map(([name, usual]) => {
    const unusual = fc.oneof(anything, fc.constant(undefined)) // which JSON leaves out
    return [name, fc.oneof({ weight: 24, arbitrary: usual }, { weight: 1, arbitrary: unusual })]
  })
  return fc.record(Object.fromEntries(loose) as typeof members)
}

/** Its text, or now and then any other. */
export function jsonText(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const text = value.map((each) => JSON.stringify(each) ?? '')
  return mostly(text, fc.oneof(fc.json(), fc.string({ unit: anyCharacter })))
}

export function mostly<Usual, Other>(
  usual: fc.Arbitrary<Usual>,
  other: fc.Arbitrary<Other>,
): fc.Arbitrary<Usual | Other> {
  return fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: other })
}

export const base64url: fc.Arbitrary<string> = fc
  .uint8Array({ maxLength: 80 })
  .map((octets) => Buffer.from(octets).toString('base64url'))

/** One escaped character of a JSON string, be it two surrogates. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)/g

function plain(escape: string): string {
  const character = String(JSON.parse(`"${escape}"`))
  return JSON.stringify(character) === `"${character}"` ? character : escape
}

/** An input as octets: its characters, where each is one, and otherwise UTF-8. */
export function octetsOf(input: string): Buffer {
  return Buffer.from(input, BEYOND_OCTETS.test(input) ? 'utf8' : 'latin1')
}

const BEYOND_OCTETS = /[\u0100-\uFFFF]/

/**
 * What a text says, without the escapes that it could do without: V8 misreads some of those in names (Node 24 and 26).
 * What is no JSON is read as `undefined`, which no JSON text says.
 */
export function parseJson(text: string): unknown {
  try {
    JSON.parse(text)
    return JSON.parse(text.replaceAll(ESCAPE, plain))
  } catch {
    return undefined
  }
}
