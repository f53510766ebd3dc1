import { createHash, randomUUID } from 'node:crypto'

import { type OptionCheck, checkOptions, isText } from '@portcullis/kit/options'

import type { Clock } from '../clock.ts'
import type { SigningKey } from '../keys/signing-key.ts'
import { isOctets, octetsOf } from '../octets.ts'
import { isObject, isTextList } from '../options.ts'
import type { TokenOptions } from '../tokens/token.ts'

// Makes one DPoP proof, sound or not. It shares no code with core, which checks proofs.

/** The request that a proof is for, and changes that make the proof unusual or bad. */
export interface ProofOptions extends Pick<TokenOptions, 'claims' | 'header' | 'omit' | 'payload'> {
  /** @default 'GET' */
  method?: string | undefined
  /** The URL as the client sees it. Its query and fragment are not part of a proof. */
  url: string | URL
  /** The token that is sent with the proof. A proof for a token endpoint has none. */
  token?: string | undefined
  /** The nonce that the server sent in `DPoP-Nonce`. */
  nonce?: string | undefined
}

/** A request with a bound token. */
export type ProvenRequest = Pick<ProofOptions, 'method' | 'url' | 'nonce'> & { token: string }

/** Who makes proofs. */
export interface ProofMaker {
  readonly clock: Clock
  readonly key: SigningKey
}

const isUrl: OptionCheck = (value) =>
  URL.canParse(String(value)) ? undefined : 'must be an absolute URL'

const REQUEST: Readonly<Record<keyof ProvenRequest, OptionCheck>> = {
  method: isText,
  url: isUrl,
  token: isText,
  nonce: isText,
}

/** @throws TypeError for a wrong, misspelt or missing member. */
export function checkProofRequest(caller: string, request: ProvenRequest): void {
  checkOptions(caller, request, REQUEST)
  checkUrl(caller, request)
}

function checkUrl(caller: string, { url }: ProofOptions): void {
  const complaint = isUrl(url)
  if (complaint !== undefined) throw new TypeError(`${caller}: url ${complaint}`)
}

/**
 * Makes a proof, valid or not.
 *
 * @returns Compact JWS.
 * @throws TypeError for a wrong, misspelt or missing option.
 * @see RFC 9449 section 4.2
 */
export async function makeProof(
  { clock, key }: ProofMaker,
  options: ProofOptions,
): Promise<string> {
  checkOptions('proof', options, {
    ...REQUEST,
    claims: isObject,
    header: isObject,
    omit: isTextList,
    payload: (value) =>
      typeof value === 'string' || isOctets(value) ? undefined : 'must be a string or octets',
  })
  checkUrl('proof', options)
  const { method = 'GET', url, token, nonce, omit = [] } = options
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: targetOf(url),
    iat: Math.floor(clock.now()),
    ...(token === undefined ? {} : { ath: hashOf(token) }),
    ...(nonce === undefined ? {} : { nonce }),
    ...options.claims,
  }
  const { payload = JSON.stringify(without(claims, omit)) } = options
  const header = { typ: 'dpop+jwt', alg: key.algorithm, jwk: key.publicJwk, ...options.header }
  return await key.sign(without(header, omit), octetsOf(payload))
}

/** The claim `htu`: without query and fragment. */
export function targetOf(url: string | URL): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** The claim `ath`. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

function without(
  members: Readonly<Record<string, unknown>>,
  omit: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !omit.includes(name)))
}
