import { createHmac } from 'node:crypto'

import type { Algorithm, Clock } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'

import { secretsOf } from '../explain/public-key-mac.ts'
import { encoded, type NamedToken, ofToken, type ProbeCase } from './cases.ts'
import { type WrongToken, wrongTime } from './claims.ts'
import { badKind } from './kinds.ts'
import { placesOfToken, withoutToken } from './places.ts'
import { variantsOf } from './variants.ts'

// Makes the requests of a probe, in their order.

export interface Ingredients {
  readonly method: string
  readonly algorithm: Algorithm
  readonly clock: Clock
  readonly good: string | undefined
  /** The right one, and those that are wrong, if the issuer mints. */
  readonly minted: MintedTokens | undefined
  readonly expired: WrongToken | undefined
  readonly document: string | undefined
  /** Claims that make forged tokens look right, so that nothing but the key is wrong with them. */
  readonly claims: Readonly<Record<string, unknown>>
}

export interface MintedTokens {
  readonly right: string
  readonly wrong: readonly WrongToken[]
  /** With the claims of the right one, and what the issuer's key has not signed. */
  readonly forged: readonly NamedToken[]
}

/** All requests of a probe, in their order. Nothing is signed by the issuer's key but what the user and the issuer gave. */
export async function probeCases(ingredients: Ingredients): Promise<readonly ProbeCase[]> {
  const { good, minted, expired, clock, method } = ingredients
  const forged = await forgedTokens(ingredients)
  const any = forged[0]?.token ?? 'token'
  const [own, name, short] =
    good === undefined ? [minted?.right, 'minted token', 'minted'] : [good, 'your token', 'yours']
  return [
    ...withoutToken(any, method),
    ...forged.map(ofForged),
    ...(minted?.forged ?? []).map(ofForged),
    ...(good === undefined ? [] : [ofGood(good, clock)]),
    ...(minted === undefined ? [] : [ofToken('minted token', 'minted', minted.right)]),
    ...(own === undefined
      ? []
      : [
          ...variantsOf(own, { forged: any, name, short, isMinting: minted !== undefined }),
          ...placesOfToken(own, name, method, minted?.right),
        ]),
    ...(expired === undefined ? [] : [ofWrong(expired)]),
    ...(minted?.wrong ?? []).map(ofWrong),
  ]
}

/** What needs no key of the issuer. Where it mints, it makes most of these itself, with the name of its key. */
async function forgedTokens(ingredients: Ingredients): Promise<readonly NamedToken[]> {
  const { algorithm, clock, document, claims, minted } = ingredients
  const stranger = await createTestIssuer({ algorithm, clock })
  const kinds = minted === undefined ? await stranger.badTokens({ claims }) : []
  return [
    { name: 'another key', token: await stranger.token({ claims }) },
    ...kinds.filter(({ name }) => badKind(name)?.byAnybody === true),
    ...keyedTokens(document, { ...claims, exp: Math.floor(clock.now()) + 300 }),
  ]
}

export const PUBLIC_KEY_MAC = 'HS256 with the public key'

/** What a library accepts that takes the algorithm from the token. RFC 8725 section 2.1. */
function keyedTokens(document: string | undefined, claims: object): readonly NamedToken[] {
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
    return [{ name, token: `${signed}.${mac}` }]
  })
}

/** Whatever else is wrong with it: no key of the issuer has signed it, but it may be so long that nobody looks. */
function ofForged({ name, token }: NamedToken): ProbeCase {
  return ofToken(name, isTooLarge(token) ? 'too_large' : 'unproven', token)
}

function ofGood(good: string, clock: Clock): ProbeCase {
  const check = wrongTime(good, clock.now())
  return { ...ofToken('your token', 'good', good), check }
}

function ofWrong(wrong: WrongToken): ProbeCase {
  const { name, token, check, accepted } = wrong
  const kind = isTooLarge(token) ? 'too_large' : 'wrong'
  return { ...ofToken(name, kind, token), check, accepted, wrong }
}

/** Bytes. Servers need not read more than that of all headers together. */
function isTooLarge(token: string): boolean {
  return token.length > 16_384
}
