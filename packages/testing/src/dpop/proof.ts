import { hash, randomUUID } from 'node:crypto'

import { type OptionCheck, checkOptions, isText, mustBe } from '@portcullis/kit/options'

import type { Clock } from '../clock.ts'
import type { SigningKey } from '../keys/signing-key.ts'
import { octetsOf } from '../octets.ts'
import { isObject, isPayload, isTextList } from '../options.ts'
import { type TokenOptions, without } from '../tokens/token.ts'

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

export type ProvenRequest = Pick<ProofOptions, 'method' | 'url' | 'nonce'> & { token: string }

export interface ProofMaker {
  readonly clock: Clock
  readonly key: SigningKey
}

const isUrl = mustBe('an absolute URL', (value) => URL.canParse(String(value)))

const REQUEST: Readonly<Record<keyof ProvenRequest, OptionCheck>> = {
  method: isText,
  url: isUrl,
  token: isText,
  nonce: isText,
}

export function checkProofRequest(caller: string, request: ProvenRequest): void {
  checkOptions(caller, request, REQUEST, ['url', 'token'])
}

/** @throws TypeError for a wrong, misspelt or missing option. @see RFC 9449 section 4.2 */
export async function makeProof(
  { clock, key }: ProofMaker,
  options: ProofOptions,
): Promise<string> {
  const checks = { claims: isObject, header: isObject, omit: isTextList, payload: isPayload }
  checkOptions('proof', options, { ...REQUEST, ...checks }, ['url'])
  const { method = 'GET', url, token, nonce, omit = [] } = options
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: targetOf(url),
    iat: Math.floor(clock.now()),
    ...(token === undefined ? {} : { ath: hash('sha256', token, 'base64url') }),
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
