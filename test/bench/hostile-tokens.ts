import { claims, encode, KID, type Signer } from './inputs.ts'

/** A token that means harm, by what it tries. */
export type HostileTokens = readonly (readonly [name: string, token: string])[]

const HUGE = 8 * 1024 * 1024
const LONG = 16_384
const HEADER = JSON.stringify({ alg: 'RS512', typ: 'JWT', kid: KID })
const SIGNATURE_LENGTH = 342

/** JSON of about so many octets, by its shape. */
const SHAPES = {
  deep: (length: number) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  /** An object with as many short members as fit. */
  wide: (length: number) => object(length, (index) => index.toString(36)),
  /** The same, each name with an escape. */
  'escaped names': (length: number) =>
    object(length, (index) => String.raw`\/${index.toString(36)}`),
} as const

function object(length: number, nameOf: (index: number) => string): string {
  const members: string[] = []
  for (let size = 2, index = 0; size < length; index += 1) {
    const member = `"${nameOf(index)}":0`
    members.push(member)
    size += member.length + 1
  }
  return `{${members.join(',')}}`
}

/** Eight megabytes each: nothing but looking at the length is cheap here. */
export function hugeTokens(signer: Signer): HostileTokens {
  const [header = '', payload = '', signature = ''] = signer.token(0).split('.')
  const rest = `${payload}.${signature}`
  const json = [SHAPES.deep, SHAPES.wide].map((shape) => encode(shape((HUGE * 3) / 4)))
  return [
    ['dots', '.'.repeat(HUGE)],
    ['a token, then dots', `${header}.${rest}${'.'.repeat(HUGE)}`],
    ['padding', `${header}.${rest}${'='.repeat(HUGE)}`],
    ['padding inside the payload', `${header}.${payload}${'='.repeat(HUGE)}.${signature}`],
    ['spaces', ' '.repeat(HUGE)],
    ['spaces before a token', `${' '.repeat(HUGE)}${header}.${rest}`],
    ['one segment', 'A'.repeat(HUGE)],
    ...json.map((each, at) => [`JSON as header ${at}`, `${each}.${rest}`] as const),
    ...json.map((each, at) => [`JSON as payload ${at}`, `${header}.${each}.${signature}`] as const),
    ['a signature of 8 MiB', `${header}.${payload}.${'A'.repeat(HUGE)}`],
  ]
}

/** With a member twice: refused once it has been read, so that nobody remembers it. */
const headerWith = (extra: string) => encode(`${HEADER.slice(0, -1)},"x":${extra},"x":0}`)
/** What might be accepted but for its signature, so that it is read to see whether to ask for keys. */
const payloadWith = (extra: string) =>
  encode(`${JSON.stringify(claims(0)).slice(0, -1)},"x":${extra}}`)

/** As long as a token may be here, forged. */
export function longForgeries(signer: Signer): HostileTokens {
  const [header = '', payload = '', signature = ''] = signer.token(0).split('.')
  const room = LONG - 2 - SIGNATURE_LENGTH
  const asHeader = fitting(room - payload.length)
  const asPayload = fitting(room - header.length)
  const longKid = encode(JSON.stringify({ alg: 'RS512', kid: 'k'.repeat(asHeader) }))
  const shaped = Object.entries(SHAPES).flatMap(([name, shape]) => [
    [`${name} in the header`, `${headerWith(shape(asHeader))}.${payload}.${signature}`] as const,
    [
      `${name} in the payload`,
      `${header}.${payloadWith(shape(asPayload - 400))}.${signature}`,
    ] as const,
  ])
  return [
    ...shaped,
    ['another payload', `${header}.${encode(JSON.stringify(claims(1)))}.${signature}`],
    ['long kid', `${longKid}.${payload}.${signature}`],
    ['short signature', `${header}.${payload}.${signature.slice(0, 4)}`],
    ['long signature', `${header}.${payload}.${'A'.repeat(asPayload)}`],
    ['signature of zeros', `${header}.${payload}.${'A'.repeat(SIGNATURE_LENGTH)}`],
    ['signature of ones', `${header}.${payload}.${'_'.repeat(SIGNATURE_LENGTH - 1)}w`],
  ]
}

/** Under a genuine signature, as an issuer that is careless or worse may write them: up to 16 KiB. */
export function longGenuine(signer: Signer): HostileTokens {
  const room = fitting(LONG - 2 - SIGNATURE_LENGTH - encode(HEADER).length) - 400
  const plain = JSON.stringify(claims(0)).slice(0, -1)
  const values = {
    'long string': `"${'x'.repeat(room)}"`,
    escapes: `"${String.raw`\u0041`.repeat(room / 6)}"`,
    'long number': '9'.repeat(room),
    'many elements': `[${'0,'.repeat(room / 2)}0]`,
    'many objects': `[${'{},'.repeat(room / 3)}{}]`,
    ...Object.fromEntries(Object.entries(SHAPES).map(([name, shape]) => [name, shape(room)])),
  }
  const payloads = {
    ...Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, `${plain},"x":${value}}`]),
    ),
    'many audiences': `{"aud":[${'"x",'.repeat(room / 4)}"x"]}`,
    'many members at the top': `${plain},${SHAPES.wide(room).slice(1)}`,
    'one member many times': `${plain},${'"x":0,'.repeat(room / 6)}"x":0}`,
    spaces: `${' '.repeat(room)}${plain}}`,
  }
  return Object.entries(payloads).map(
    ([name, payload]) => [`signed: ${name}`, signer.sign(HEADER, payload)] as const,
  )
}

/** How many octets of text fill so many characters of base64url, with some room for what is around them. */
function fitting(characters: number): number {
  return Math.floor((characters * 3) / 4) - 100
}
