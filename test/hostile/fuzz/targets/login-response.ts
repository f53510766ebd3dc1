import fc from 'fast-check'

import { expiryOf, findToken } from '../../../../packages/client/src/answer/token-response.ts'
import { base64url, jsonObject, jsonText, mostly } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const jwsHeader = jsonText(jsonObject({ alg: fc.constantFrom('RS512', 'none') }))
const payload = jsonText(jsonObject({ exp: fc.oneof(fc.integer(), fc.double()) }))
const token = fc
  .tuple(mostly(jwsHeader.map(encoded), base64url), mostly(payload.map(encoded), base64url))
  .map((segments) => [...segments, 'c2ln'].join('.'))

const NO_HEADERS = { headers: new Headers() }
/** The client reads no longer body. */
const MAX_BODY_LENGTH = 64 * 1024

/** The body of the token service's answer to a login, whose form nobody documents. */
export const loginResponse: FuzzTarget = {
  inputs: mostly(token, jsonText(fc.oneof(token, jsonObject({ access_token: token, token })))),
  run(input) {
    if (input.length > MAX_BODY_LENGTH) return
    const found = [
      findToken(input, 'auto', NO_HEADERS),
      findToken(input, { field: 'token' }, NO_HEADERS),
    ]
    for (const each of found) if (each !== undefined) expectToken(each, input)
    const taken = findToken(input, (body) => body, NO_HEADERS)
    hold(taken === undefined || taken === input, 'a function has its say')
  },
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function expectToken(text: string, body: string): void {
  hold(/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text), 'a token has three segments of base64url')
  hold(body.includes(text) || body.includes('\\'), 'the token is in the body')
  const expiry = expiryOf(text)
  hold(expiry === undefined || Number.isFinite(expiry), 'an expiry is a time')
}
