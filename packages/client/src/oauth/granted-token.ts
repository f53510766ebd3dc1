import { type Client, processGenericTokenEndpointResponse } from 'oauth4webapi'

import { UNKNOWN_LIFETIME } from '../held-token.ts'
import { notAToken } from '../http-answer.ts'
import { parseObject } from '../json.ts'
import { lifetimeOf } from '../lifetime.ts'
import { ownMembers } from '../option-checks.ts'
import { elapsed } from '../time.ts'
import type { GrantedToken, ServiceAnswer } from '../token-request.ts'
import { boundKeyOf, membersOf } from '../token-response.ts'

// Reads the token in an answer of the token endpoint: first we its size, depth and members, then oauth4webapi what they say.

/** RFC 6750 section 2.1; RFC 9449 section 7.1 */
const TOKEN = /^[\w.~+/-]+=*$/

/** What an exchange may have issued to be sent as an access token. RFC 8693 section 3 */
const ACCESS_TOKENS: ReadonlySet<unknown> = new Set([
  'urn:ietf:params:oauth:token-type:access_token',
  'urn:ietf:params:oauth:token-type:jwt',
])

/**
 * @param end When the token ends at the latest: seconds since 1970-01-01T00:00:00Z.
 * @throws TokenClientError for what is no token that can be used; whatever reading the body fails with.
 */
export async function readGrant(
  answer: ServiceAnswer,
  client: Client,
  end: number,
): Promise<GrantedToken> {
  const text = await answer.body()
  // What oauth4webapi throws may quote the answer.
  const judged = await judge(answer, text, client).catch(() => undefined)
  if (judged === undefined) throw notAToken(answer.response, `${text.length} characters`)
  const { token, isProven, expiresIn } = judged
  const lifetime = lifetimeIn(answer, token, expiresIn)
  const left = end - answer.receivedAt.wall
  return {
    token,
    lifetime: left === Infinity ? lifetime : Math.min(lifetime ?? UNKNOWN_LIFETIME, left),
    // Of an opaque token, only the answer says that it is bound. RFC 9449 section 5
    isBoundTo: (jkt) => isProven && [undefined, jkt].some((each) => each === boundKeyOf(token)),
    isRenewable: (lifetime ?? UNKNOWN_LIFETIME) < left,
  }
}

interface Judged {
  readonly token: string
  readonly isProven: boolean
  readonly expiresIn: number | undefined
}

/** `undefined` for what is no token for a request of this client. */
async function judge(
  answer: ServiceAnswer,
  text: string,
  client: Client,
): Promise<Judged | undefined> {
  const { response, proof } = answer
  // Nothing else of it: an ID token would be verified, and a refresh token is of no use.
  const value = parseObject(text)
  const own = (name: string) => membersOf(value, [name])[0]
  if (!isLifetime(own('expires_in'))) return undefined
  const members = ['access_token', 'token_type', 'expires_in'].map((name) => [name, own(name)])
  const readable = Response.json(Object.fromEntries(members), { status: response.status })
  const server = ownMembers({ issuer: answer.url })
  const judged = await processGenericTokenEndpointResponse(server, client, readable)
  const { access_token: token, token_type: type, expires_in: expiresIn } = ownMembers(judged)
  const issuedType = own('issued_token_type')
  const isProven = type === 'dpop'
  if (!TOKEN.test(token) || (isProven && proof === undefined)) return undefined
  if (issuedType !== undefined && !ACCESS_TOKENS.has(issuedType)) return undefined
  return { token, isProven, expiresIn }
}

/** A text, since some servers write one; the library would read the beginning of any. RFC 6749 section 5.1 */
function isLifetime(value: unknown): boolean {
  return value === undefined || typeof value === 'number' || /^\d+$/.test(textIn(value))
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Seconds from the answer on. `expires_in` counts from when the server wrote it, which may be long ago: the machine may have been
 * suspended. RFC 6749 section 5.1
 */
function lifetimeIn(
  { sentAt, receivedAt, clockSkew }: ServiceAnswer,
  token: string,
  expiresIn: number | undefined,
): number | undefined {
  if (expiresIn === undefined) return lifetimeOf(token, receivedAt.wall, clockSkew)
  return expiresIn - elapsed(sentAt, receivedAt)
}
