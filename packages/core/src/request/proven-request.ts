import type { WaitUntil } from '@portcullis/kit/calls'
import { memberOf, own } from '@portcullis/kit/options'

import type { Auth, Possession } from '../claims/auth.ts'
import { type PresentedProof, proofMethods } from '../dpop/proof-check.ts'
import { bindingRefusal } from '../possession/binding.ts'
import { checkedNothing, lostPossession, notBound, withoutProof } from '../possession/details.ts'
import { mutualTlsMethods } from '../possession/mutual-tls.ts'
import type { Verifier, VerifyOptions } from '../verifier/verifier.ts'
import { type Credentials, type FetchRequest, findProof, type RequestHeaders } from './bearer.ts'
import type { GuardOptions } from './guard-options.ts'
import { findUsedProof, useProof } from './used-proofs.ts'

// Joins the token of a request with its DPoP proof and its client certificate. It alone knows in which order they are checked.

export interface RequestParts {
  readonly request: RequestHeaders | FetchRequest
  /** What the framework hands to handlers. */
  readonly subject: object
  /** The request of node that came over the connection, where there is one. */
  readonly incoming: object
  readonly waitUntil: WaitUntil | undefined
}

export function asksForPossession(options: GuardOptions<never>): boolean {
  return own(options, 'dpop') !== undefined || own(options, 'mutualTls') !== undefined
}

/**
 * A proof is remembered only once everything else holds: otherwise anybody could fill the memory with proofs of their own.
 *
 * @throws AuthError @see RFC 9449 section 7; RFC 8705 section 3
 */
export async function verifyProven(
  verifier: Verifier<unknown>,
  parts: RequestParts,
  options: GuardOptions<never>,
  { scheme, token }: Credentials,
): Promise<Auth<unknown>> {
  const [dpop, mutualTls] = [own(options, 'dpop'), own(options, 'mutualTls')]
  const wantedWith = (jkt: string | undefined): Wanted => ({
    token,
    jkt,
    x5tS256: textOf(mutualTls && mutualTlsMethods(mutualTls).thumbprintOf(parts.incoming)),
    isCertificateRequired: mutualTls?.required === true,
    waitUntil: parts.waitUntil,
  })
  // Under `Bearer` a proof is not looked at: a thief would take the scheme that asks for less.
  if (dpop === undefined || scheme !== 'DPoP') {
    if (dpop?.required === true) throw bindingRefusal(withoutProof)
    return await verifyWanted(verifier, wantedWith(undefined))
  }
  const requests = [parts.subject, parts.request]
  const asked = askedOf(parts, token)
  const used = findUsedProof(requests, dpop, asked)
  const proof = used?.proof ?? (await proofMethods(dpop).check(asked))
  const jkt = textOf(proof?.jkt)
  if (jkt === undefined) throw bindingRefusal(checkedNothing)
  const wanted = wantedWith(jkt)
  const auth = await verifyWanted(verifier, wanted)
  const remembering = useProof(requests, dpop, { proof, asked })
  if (remembering === undefined) return auth
  await remembering
  // While the memory took its time, the token may have expired or been revoked, and its key may have left.
  return await verifyWanted(verifier, wanted)
}

function askedOf({ request, subject }: RequestParts, token: string): PresentedProof {
  return Object.freeze({
    proof: findProof(request),
    method: methodOf(request),
    target: targetOf(request, subject),
    token,
  })
}

interface Wanted {
  readonly token: string
  readonly jkt: string | undefined
  readonly x5tS256: string | undefined
  readonly isCertificateRequired: boolean
  readonly waitUntil: WaitUntil | undefined
}

async function verifyWanted(
  verifier: Verifier<unknown>,
  { token, jkt, x5tS256, isCertificateRequired, waitUntil }: Wanted,
): Promise<Auth<unknown>> {
  const isProven = jkt !== undefined || x5tS256 !== undefined
  const possession = isProven ? { jkt, x5tS256 } : undefined
  const auth = await verifyFor(verifier, token, { possession, waitUntil })
  // Whoever wraps `verify` may have dropped what was proven.
  const confirmed = possessionIn(auth)
  if (jkt !== undefined && confirmed?.jkt !== jkt) throw bindingRefusal(lostPossession)
  if (isCertificateRequired && !isConfirmed(x5tS256, confirmed)) {
    throw bindingRefusal(notBound('x5tS256'))
  }
  return auth
}

/** Without options that state nothing: a verifier of the user's own may take none. */
export async function verifyFor(
  verifier: Verifier<unknown>,
  token: string,
  { possession, waitUntil }: Pick<VerifyOptions, 'possession' | 'waitUntil'>,
): Promise<Auth<unknown>> {
  if (possession === undefined && waitUntil === undefined) return await verifier.verify(token)
  return await verifier.verify(token, {
    ...(possession && { possession }),
    ...(waitUntil && { waitUntil }),
  })
}

function isConfirmed(x5tS256: string | undefined, confirmed: Possession | undefined): boolean {
  return x5tS256 !== undefined && confirmed?.x5tS256 === x5tS256
}

export function isProvenByKey(auth: Auth<unknown>): boolean {
  return possessionIn(auth)?.jkt !== undefined
}

/** A thumbprint. What is of the user's own may answer with anything. */
function textOf(answer: unknown): string | undefined {
  return typeof answer === 'string' && answer !== '' ? answer : undefined
}

/** With own members alone: a polluted prototype has proven nothing. */
function possessionIn(auth: Auth<unknown>): Possession | undefined {
  const possession = own(auth, 'possession')
  return possession && { jkt: own(possession, 'jkt'), x5tS256: own(possession, 'x5tS256') }
}

const ORIGIN = /^[a-z][\d+.a-z-]*:\/\/[^/?#]*/i

/**
 * Path and query of a request, as the server was asked for them.
 *
 * Routers that are mounted under a path change `url`, and keep what was asked for in `originalUrl`: Express and Connect on the
 * request, Koa on the context, Fastify on the request of node where `rewriteUrl` has changed it. What the client says of
 * the host does not count, be it in a target of absolute form. The request of node comes first: a Koa application that is mounted in
 * Express keeps the path that it was given.
 *
 * @param subject What the framework hands to handlers.
 * @see RFC 9112 section 3.2
 */
export function targetOf(request: object, subject: object): string {
  const original = ownText(request, 'originalUrl') ?? ownText(subject, 'originalUrl')
  const url = original ?? textIn(request, 'url')
  const target = url.replace(ORIGIN, '')
  return url === target || target.startsWith('/') ? target : `/${target}`
}

function methodOf(request: object): string {
  return textIn(request, 'method')
}

/** An inherited one would be somebody's pollution: no class of a framework has it. */
function ownText(members: object, name: string): string | undefined {
  const value: unknown = Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined
  return typeof value === 'string' ? value : undefined
}

function textIn(members: object, name: string): string {
  const value = memberOf(members, name)
  return typeof value === 'string' ? value : ''
}
