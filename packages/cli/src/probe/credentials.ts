import { createHmac } from 'node:crypto'

import type { Algorithm, Clock } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'

import { secretsOf } from '../explain/public-key-mac.ts'
import { type Claim, claimsIn, type WrongToken, wrongTime } from './claims.ts'

// Makes the requests of a probe: forged tokens, the user's token and its variants, and what each must lead to.

export interface ProbeCase {
  readonly name: string
  /**
   * What an API has to make of it: no credentials that it knows (`missing`), no token (`malformed`), several (`invalid_request`),
   * a token that no key of the issuer proves (`unproven`), the user's token (`good`) or one that was minted for the probe (`minted`), the same
   * written in another way (`like_good`), it in the first of two headers (`two_headers`) or behind a forged one
   * (`forged_first`), or a token of the issuer in which one claim is wrong (`wrong_claim`).
   */
  readonly kind:
    | 'missing'
    | 'malformed'
    | 'invalid_request'
    | 'unproven'
    | 'good'
    | 'minted'
    | 'like_good'
    | 'two_headers'
    | 'forged_first'
    | 'wrong_claim'
  readonly authorization: readonly string[]
  readonly token: string | undefined
  /** The claim for which the token has to be refused, though a key of the issuer may have signed it. */
  readonly claim?: Claim | undefined
  /** Of a `wrong_claim`: the token itself, with the one that is right. */
  readonly wrong?: WrongToken | undefined
}

export interface Ingredients {
  readonly algorithm: Algorithm
  readonly clock: Clock
  readonly good: string | undefined
  readonly minted: string | undefined
  readonly wrong: readonly WrongToken[]
  readonly document: string | undefined
  /** Claims that make forged tokens look right, so that nothing but the key is wrong with them. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** All requests of a probe, in their order. Nothing is signed by the issuer's key but what the user and the issuer gave. */
export async function probeCases(ingredients: Ingredients): Promise<readonly ProbeCase[]> {
  const forged = await forgedTokens(ingredients)
  const { good, minted, wrong, clock } = ingredients
  const any = forged[0]?.[1] ?? 'token'
  const [own, ownName, short] =
    good === undefined ? [minted, 'minted token', 'minted'] : [good, 'your token', 'yours']
  return [
    { name: 'no token', kind: 'missing', authorization: [], token: undefined },
    ofHeaders('another scheme: Basic', 'missing', 'Basic cG9ydGN1bGxpczpwcm9iZQ=='),
    ofHeaders('Bearer without a token', 'malformed', 'Bearer'),
    ofHeaders('two words after Bearer', 'malformed', `Bearer ${any} ${any}`),
    ofHeaders('two headers', 'invalid_request', `Bearer ${any}`, `Bearer ${any}`),
    ...forged.map(([name, token]) => ofToken(name, 'unproven', token)),
    ...(good === undefined
      ? []
      : [{ ...ofToken('your token', 'good', good), claim: wrongTime(good, clock.now()) }]),
    ...(minted === undefined ? [] : [ofToken('minted token', 'minted', minted)]),
    ...(own === undefined ? [] : variants(own, any, ownName, short)),
    ...wrong.map(ofWrong),
  ]
}

function variants(good: string, forged: string, name: string, short: string): readonly ProbeCase[] {
  const [header = '', payload = '', signature = ''] = good.split('.')
  const altered = { ...claimsIn(good), portcullis: 'probe' }
  const none = encoded({ alg: 'none', typ: 'JWT' })
  return [
    { ...ofHeaders(`${name}, "bearer"`, 'like_good', `bearer ${good}`), token: good },
    ofHeaders(`${name}, two headers`, 'two_headers', `Bearer ${good}`, `Bearer ${good}`),
    ofHeaders(`${name}, then a forged one`, 'two_headers', `Bearer ${good}`, `Bearer ${forged}`),
    ofHeaders(`a forged one, then ${name}`, 'forged_first', `Bearer ${forged}`, `Bearer ${good}`),
    ofToken(`${short}, other signature`, 'unproven', `${header}.${payload}.${changed(signature)}`),
    ofToken(`${short}, other claims`, 'unproven', `${header}.${encoded(altered)}.${signature}`),
    ofToken(`${short}, alg none`, 'unproven', `${none}.${payload}.`),
  ]
}

type Forged = readonly (readonly [name: string, token: string])[]

/** Kinds of bad tokens that any API has to refuse, whoever its issuer is. */
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
  const kinds = await stranger.badTokens({ claims })
  const listed = kinds.flatMap(({ name, token }) => {
    const title = KINDS.get(name)
    return title === undefined ? [] : [[title, token] as const]
  })
  return [
    ['another key', await stranger.token({ claims })],
    ...listed,
    ...keyedTokens(document, { ...claims, exp: Math.floor(clock.now()) + 300 }),
  ]
}

export const PUBLIC_KEY_MAC = 'HS256 with the public key'

/** What a library accepts that takes the algorithm from the token. RFC 8725 section 2.1. */
function keyedTokens(document: string | undefined, claims: object): Forged {
  if (document === undefined) return []
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`
  const pem = secretsOf(document).find((secret) => String(secret).startsWith('-----BEGIN PUBLIC'))
  const secrets = [
    ['HS256 with the document', document],
    [PUBLIC_KEY_MAC, pem],
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

function ofWrong(wrong: WrongToken): ProbeCase {
  const { name, token, claim } = wrong
  return { name, kind: 'wrong_claim', authorization: [`Bearer ${token}`], token, claim, wrong }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function changed(signature: string): string {
  const octets = Buffer.from(signature, 'base64url')
  return Buffer.from(octets.map((octet, at) => (at === 9 ? octet ^ 1 : octet))).toString(
    'base64url',
  )
}
