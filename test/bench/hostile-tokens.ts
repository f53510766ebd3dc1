import { KID, claims, encode, type Signer } from './inputs.ts'

/** A token that means harm, and what it tries. */
export interface HostileToken {
  readonly name: string
  readonly token: string
}

const MIB = 1024 * 1024
const HUGE = 8 * MIB
/** Whose base64url is that long. */
const HUGE_JSON = (HUGE * 3) / 4
const LONG = 16_384

const HEADER = JSON.stringify({ alg: 'RS512', typ: 'JWT', kid: KID })
const SIGNATURE_LENGTH = 342

/** Eight megabytes each: nothing but looking at the length is cheap here. */
export function hugeTokens(signer: Signer): HostileToken[] {
  const [header = '', payload = '', signature = ''] = signer.token(0).split('.')
  const rest = `${payload}.${signature}`
  return [
    ['dots', '.'.repeat(HUGE)],
    ['a token, then dots', `${header}.${rest}${'.'.repeat(HUGE)}`],
    ['padding', `${header}.${rest}${'='.repeat(HUGE)}`],
    ['padding inside the payload', `${header}.${payload}${'='.repeat(HUGE)}.${signature}`],
    ['spaces', ' '.repeat(HUGE)],
    ['spaces before a token', `${' '.repeat(HUGE)}${header}.${rest}`],
    ['one segment', 'A'.repeat(HUGE)],
    ['deep JSON as header', `${encode(deep(HUGE_JSON))}.${rest}`],
    ['wide JSON as header', `${encode(wide(HUGE_JSON))}.${rest}`],
    ['deep JSON as payload', `${header}.${encode(deep(HUGE_JSON))}.${signature}`],
    ['wide JSON as payload', `${header}.${encode(wide(HUGE_JSON))}.${signature}`],
    ['a signature of 8 MiB', `${header}.${payload}.${'A'.repeat(HUGE)}`],
  ].map(([name = '', token = '']) => ({ name: `8 MiB: ${name}`, token }))
}

/** As long as a token may be here, forged. */
export function longForgeries(signer: Signer): HostileToken[] {
  const [header = '', payload = '', signature = ''] = signer.token(0).split('.')
  const room = LONG - 2 - SIGNATURE_LENGTH
  const asHeader = fitting(room - payload.length)
  const asPayload = fitting(room - header.length)
  return [
    ['a payload that the signature is not of', `${header}.${otherPayload()}.${signature}`],
    ['deep header', `${encode(withAlgorithm(deep(asHeader)))}.${payload}.${signature}`],
    ['wide header', `${encode(withAlgorithm(wide(asHeader)))}.${payload}.${signature}`],
    [
      'escaped names in the header',
      `${encode(withAlgorithm(escaped(asHeader)))}.${payload}.${signature}`,
    ],
    ['long kid', `${encode(longKid(asHeader))}.${payload}.${signature}`],
    ['deep payload', `${header}.${encode(deep(asPayload))}.${signature}`],
    ['wide payload', `${header}.${encode(wide(asPayload))}.${signature}`],
    [
      'escaped names in the payload',
      `${header}.${encode(expiring(escaped(asPayload - 300)))}.${signature}`,
    ],
    ['short signature', `${header}.${payload}.${signature.slice(0, 4)}`],
    ['long signature', `${header}.${payload}.${'A'.repeat(asPayload)}`],
    ['signature of zeros', `${header}.${payload}.${'A'.repeat(SIGNATURE_LENGTH)}`],
    ['signature of ones', `${header}.${payload}.${'_'.repeat(SIGNATURE_LENGTH - 1)}w`],
  ].map(([name = '', token = '']) => ({ name: `forged: ${name}`, token }))
}

/** Under a genuine signature, as an issuer that is careless or worse may write them: up to 16 KiB. */
export function longGenuine(signer: Signer): HostileToken[] {
  const room = fitting(LONG - 2 - SIGNATURE_LENGTH - encode(HEADER).length) - 400
  const plain = JSON.stringify(claims(0)).slice(0, -1)
  const members = (value: string) => `${plain},"x":${value}}`
  return [
    ['long string', members(`"${'x'.repeat(room)}"`)],
    ['escapes', members(`"${String.raw`\u0041`.repeat(room / 6)}"`)],
    ['long number', members('9'.repeat(room))],
    ['deep', members(deep(room))],
    ['wide', members(wide(room))],
    ['escaped names', members(escaped(room))],
    ['many elements', members(`[${'0,'.repeat(room / 2)}0]`)],
    ['many objects', members(`[${'{},'.repeat(room / 3)}{}]`)],
    ['many audiences', `{"aud":[${'"x",'.repeat(room / 4)}"x"]}`],
    ['many members at the top', `${plain},${wide(room).slice(1)}`],
    ['one member many times', `${plain},${'"x":0,'.repeat(room / 6)}"x":0}`],
    ['spaces', `${' '.repeat(room)}${plain}}`],
  ].map(([name = '', payload = '']) => ({
    name: `signed: ${name}`,
    token: signer.sign(HEADER, payload),
  }))
}

/** How many octets of text fill so many characters of base64url, with some room for what is around them. */
function fitting(characters: number): number {
  return Math.floor((characters * 3) / 4) - 100
}

function otherPayload(): string {
  return encode(JSON.stringify(claims(1)))
}

/** With a member twice: refused once it has been read, so that nobody remembers it. */
function withAlgorithm(extra: string): string {
  return `${HEADER.slice(0, -1)},"x":${extra},"x":0}`
}

function longKid(length: number): string {
  return JSON.stringify({ alg: 'RS512', kid: 'k'.repeat(length) })
}

function deep(length: number): string {
  const levels = Math.floor(length / 2)
  return `${'['.repeat(levels)}${']'.repeat(levels)}`
}

/** What might be accepted but for its signature, so that it is read to see whether to ask for keys. */
function expiring(extra: string): string {
  return `${JSON.stringify(claims(0)).slice(0, -1)},"x":${extra}}`
}

/** An object with as many short members as fit. */
function wide(length: number): string {
  return object(length, (index) => index.toString(36))
}

/** The same, each name with an escape. */
function escaped(length: number): string {
  return object(length, (index) => String.raw`\/${index.toString(36)}`)
}

function object(length: number, nameOf: (index: number) => string): string {
  const members: string[] = []
  for (let size = 2, index = 0; size < length; index += 1) {
    const member = `"${nameOf(index)}":0`
    members.push(member)
    size += member.length + 1
  }
  return `{${members.join(',')}}`
}
