import { createHmac } from 'node:crypto'

import type { Algorithm, Clock } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'

import { secretsOf } from '../public-key-mac.ts'
import { jsonOf } from '../unread-json.ts'

/** One request of a probe. */
export interface ProbeCase {
  readonly name: string
  /**
   * What an API has to make of it: no credentials that it knows (`missing`), no proper header (`invalid_request`), a token that
   * no key of the issuer proves (`unproven`), the user's token (`good`), or the same written in another way (`like_good`).
   */
  readonly kind: 'missing' | 'invalid_request' | 'unproven' | 'good' | 'like_good'
  /** The values of the `Authorization` headers. */
  readonly authorization: readonly string[]
  /** The token in them, if there is one. */
  readonly token: string | undefined
}

/** What tokens are made of. */
export interface Ingredients {
  readonly algorithm: Algorithm
  readonly clock: Clock
  /** The user's own token. */
  readonly good: string | undefined
  /** The key document as it came. */
  readonly document: string | undefined
  /** Claims that make forged tokens look right. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** All requests of a probe, in their order. Nothing in them is signed by the issuer's key but the user's token. */
export async function probeCases(ingredients: Ingredients): Promise<readonly ProbeCase[]> {
  const forged = await forgedTokens(ingredients)
  const { good } = ingredients
  const any = forged[0]?.[1] ?? 'token'
  return [
    { name: 'no token', kind: 'missing', authorization: [], token: undefined },
    ofHeaders('another scheme: Basic', 'missing', 'Basic cG9ydGN1bGxpczpwcm9iZQ=='),
    ofHeaders('Bearer without a token', 'invalid_request', 'Bearer'),
    ofHeaders('two words after Bearer', 'invalid_request', `Bearer ${any} ${any}`),
    ofHeaders('two headers', 'invalid_request', `Bearer ${any}`, `Bearer ${any}`),
    ...forged.map(([name, token]) => ofToken(name, 'unproven', token)),
    ...(good === undefined ? [] : goodCases(good)),
  ]
}

function goodCases(good: string): readonly ProbeCase[] {
  const [header = '', payload = '', signature = ''] = good.split('.')
  const altered = { ...Object(decoded(payload)), portcullis: 'probe' } as object
  const none = encoded({ alg: 'none', typ: 'JWT' })
  return [
    ofToken('your token', 'good', good),
    { ...ofHeaders('your token, "bearer"', 'like_good', `bearer ${good}`), token: good },
    ofHeaders('your token, two headers', 'invalid_request', `Bearer ${good}`, `Bearer ${good}`),
    ofToken('yours, other signature', 'unproven', `${header}.${payload}.${changed(signature)}`),
    ofToken('yours, other claims', 'unproven', `${header}.${encoded(altered)}.${signature}`),
    ofToken('yours, alg none', 'unproven', `${none}.${payload}.`),
  ]
}

type Forged = readonly (readonly [name: string, token: string])[]

/** Kinds of `badTokens()` that any API has to refuse, whoever its issuer is. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['one word', 'one word'],
  ['four segments', 'four parts'],
  ['header not JSON', 'header not JSON'],
  ['critical header', 'critical header'],
  ['alg none', 'alg none'],
  ['alg none and no signature', 'alg none, no signature'],
  ['embedded jwk', 'key in the header'],
])

async function forgedTokens({ algorithm, clock, document, claims }: Ingredients): Promise<Forged> {
  const stranger = await createTestIssuer({ algorithm, clock })
  const listed = await stranger.badTokens()
  return [
    ['another key', await stranger.token({ claims })],
    ['another key, expired', await stranger.token({ claims, expiresIn: -3600 })],
    ...listed.flatMap(({ name, token }) => {
      const title = KINDS.get(name)
      return title === undefined ? [] : [[title, token] as const]
    }),
    ...keyedTokens(document, { ...claims, exp: Math.floor(clock.now()) + 300 }),
  ]
}

/** What a library accepts that takes the algorithm from the token. RFC 8725 section 2.1. */
function keyedTokens(document: string | undefined, claims: object): Forged {
  if (document === undefined) return []
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`
  const pem = secretsOf(document).find((secret) => String(secret).startsWith('-----BEGIN PUBLIC'))
  const secrets = [
    ['HS256 with the document', document],
    ['HS256 with the public key', pem],
  ] as const
  return secrets.flatMap(([name, secret]) => {
    if (secret === undefined) return []
    const mac = createHmac('sha256', secret).update(signed).digest('base64url')
    return [[name, `${signed}.${mac}`] as const]
  })
}

function ofHeaders(name: string, kind: ProbeCase['kind'], ...authorization: string[]): ProbeCase {
  return { name, kind, authorization, token: undefined }
}

function ofToken(name: string, kind: ProbeCase['kind'], token: string): ProbeCase {
  return { name, kind, authorization: [`Bearer ${token}`], token }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decoded(part: string): unknown {
  return jsonOf(Buffer.from(part, 'base64url').toString('utf8'))
}

/** With one other bit, as long as before. */
function changed(signature: string): string {
  const octets = Buffer.from(signature, 'base64url')
  return Buffer.from(octets.map((octet, at) => (at === 9 ? octet ^ 1 : octet))).toString(
    'base64url',
  )
}
