import fc from 'fast-check'

import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import {
  type FetchRequest,
  parseBearer,
  type RequestHeaders,
} from '../../../../packages/core/src/request/bearer.ts'
import { parseTokenHeader } from '../../../../packages/core/src/request/token-header.ts'
import { anyCharacter, mostly } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

/** RFC 6750 section 2.1, with the scheme in any case and more than one space, as RFC 9110 section 11.4 has it. */
const CREDENTIALS = /^[Bb][Ee][Aa][Rr][Ee][Rr] +(?<token>[A-Za-z0-9._~+/-]+=*)$/

/** What a header that a guard names has to be, with a scheme and without. */
const STATED = [
  ['Bearer', /^Bearer (?<token>[A-Za-z0-9._~+/-]+=*)$/],
  [undefined, /^(?<token>[A-Za-z0-9._~+/-]+=*)$/],
] as const

const REFUSALS: ReadonlySet<string> = new Set([
  'missing_token missing_header',
  'missing_token other_scheme',
  'invalid_request repeated_header',
  'invalid_request repeated_credentials',
  'invalid_token malformed',
])

/** A header that presents a token, or would. */
const PRESENTS_TOKEN = /^\s*(?:bearer|dpop)(?:[\s,]|$)/i

const name = mostly(fc.constantFrom('Authorization', 'AUTHORIZATION', 'Host'), fc.string())
const value = fc
  .tuple(
    mostly(fc.constantFrom('Bearer', 'bearer', 'Basic', 'DPoP', 'Basic a,'), fc.string()),
    mostly(fc.constantFrom(' ', '   ', '\t', ''), fc.string()),
    mostly(fc.base64String(), fc.string({ unit: anyCharacter })),
  )
  .map((parts) => parts.join(''))

/** Header fields, each on a line of its own: `name:value`. */
export const bearer: FuzzTarget = {
  inputs: fc.array(fc.tuple(name, value), { maxLength: 4 }).map(inLines),
  run(input) {
    const fields = input.split('\n').map(nameAndValue)
    const values = fields
      .filter(([field]) => field.toLowerCase() === 'authorization')
      .map(([, credentials]) => credentials)
    const [only] = values
    const expected =
      values.length === 1 ? CREDENTIALS.exec(only ?? '')?.groups?.['token'] : undefined
    const received = { rawHeaders: fields.flat(), headers: { authorization: only } }
    hold(read(received) === expected, 'the one token is found')
    hold(read({ headers: { authorization: values } }) === expected, 'also in a list of a mock')
    const shim = { rawHeaders: [], headers: { authorization: values.length > 1 ? values : only } }
    hold(read(shim) === expected, 'and where raw header fields are empty')
    const joined = values.length === 0 ? null : values.join(', ')
    const request = { headers: { get: () => joined } }
    hold(read(request) === expected, 'and in a `Request`, where repeated headers are one')
    const isRefused = codeOf(request) === 'invalid_request'
    const presents = values.slice(1).some((credentials) => PRESENTS_TOKEN.test(credentials))
    hold(isRefused || !presents, 'a token behind another header is never left out')
    for (const [scheme, form] of STATED) {
      const token = values.length === 1 ? form.exec(only ?? '')?.groups?.['token'] : undefined
      const inStated = (each: RequestHeaders | FetchRequest) =>
        read(each, (of) => parseTokenHeader(of, { header: 'authorization', scheme }))
      hold(inStated(received) === token, 'a stated header has the one token and nothing else')
      hold(inStated(request) === token, 'also in a `Request`')
    }
  },
}

function inLines(fields: readonly (readonly [string, string])[]): string {
  return fields.map((field) => field.join(':')).join('\n')
}

function nameAndValue(line: string): [string, string] {
  const [first = '', ...rest] = line.split(':')
  return [first, rest.join(':')]
}

function codeOf(request: RequestHeaders | FetchRequest): string | undefined {
  try {
    parseBearer(request)
    return undefined
  } catch (error) {
    return error instanceof AuthError ? error.code : undefined
  }
}

function read(
  request: RequestHeaders | FetchRequest,
  parse: typeof parseBearer = parseBearer,
): string | undefined {
  try {
    return parse(request)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    hold(REFUSALS.has(`${error.code} ${error.reason}`), `a refusal of this step, not ${error.code}`)
    return undefined
  }
}
