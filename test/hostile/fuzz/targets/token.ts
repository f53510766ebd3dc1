import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'
import { decodeProtectedHeader } from 'jose'

import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import {
  createHeaderCache,
  type ParsedToken,
  parseToken,
} from '../../../../packages/core/src/token/token.ts'
import {
  anyCharacter,
  base64url,
  jsonObject,
  jsonText,
  mostly,
  octetsOf,
  parseJson,
} from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const MAX_SIZE = 16_384

const headerText = jsonText(
  jsonObject({
    alg: fc.constantFrom('RS512', 'none'),
    kid: fc.string(),
    typ: fc.string(),
    crit: fc.array(fc.string()),
    b64: fc.boolean(),
    jwk: fc.jsonValue({ maxDepth: 40 }),
  }),
)
const anySegment = mostly(base64url, fc.string({ unit: anyCharacter }))

/** A compact JWS: the token as it comes out of the Authorization header. */
export const token: FuzzTarget = {
  inputs: fc.tuple(mostly(headerText.map(encoded), anySegment), anySegment, anySegment).map(joined),
  run: expectSoundReading,
}

/** The same, as somebody writes it who gets the encoding right: the input is the header. */
export const header: FuzzTarget = {
  inputs: headerText,
  run(input) {
    expectSoundReading(joined([encoded(input), 'e30', 'c2ln']))
  },
}

function encoded(input: string): string {
  return octetsOf(input).toString('base64url')
}

function joined(segments: readonly string[]): string {
  return segments.join('.')
}

/** Headers of earlier inputs, as a verifier keeps them. */
const headers = createHeaderCache()

function expectSoundReading(text: string): void {
  const parsed = read(text)
  hold(
    isDeepStrictEqual(read(text, headers), parsed),
    'a header that is remembered changes nothing',
  )
  if (parsed === undefined) return
  const segments = text.split('.')
  hold(segments.length === 3 && text.length <= MAX_SIZE, 'three segments of the allowed size')
  hold(segments.every(isCanonical), 'each segment is canonical base64url')
  const [encodedHeader = '', encodedPayload, encodedSignature] = segments
  hold(parsed.payload.toString('base64url') === encodedPayload, 'the payload is the second segment')
  hold(parsed.signature.toString('base64url') === encodedSignature, 'the signature is the third')
  hold(text.startsWith(`${parsed.signingInput.toString()}.`), 'the rest is the signing input')
  const json = Buffer.from(encodedHeader, 'base64url').toString()
  hold(Buffer.from(json).toString('base64url') === encodedHeader, 'the header is UTF-8')
  hold(isDeepStrictEqual(parsed.header, parseJson(json)), 'the header is what the JSON says')
  // `JSON.parse` by itself, which jose uses, misreads some escapes.
  const isPlain = !json.includes('\\')
  hold(
    !isPlain || isDeepStrictEqual(parsed.header, decodeProtectedHeader(text)),
    'and what jose reads',
  )
  hold(Object.isFrozen(parsed.header), 'the header is frozen')
  hold(!('crit' in parsed.header), 'no extension is asked for')
  for (const name of ['kid', 'typ'] as const) {
    const value = parsed.header[name] ?? ''
    hold(typeof value === 'string', `${name} is a text, null or absent`)
  }
}

function read(text: string, remembered = createHeaderCache()): ParsedToken | undefined {
  try {
    return parseToken(text, MAX_SIZE, remembered)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const expected = text.length > MAX_SIZE ? ['too_large'] : ['malformed', 'critical_header']
    hold(expected.includes(error.reason), `a reason of this step, not ${error.reason}`)
    return undefined
  }
}

function isCanonical(segment: string): boolean {
  return segment !== '' && Buffer.from(segment, 'base64url').toString('base64url') === segment
}
