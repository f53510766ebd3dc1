import type { WaitUntil } from '@portcullis/kit/calls'
import { memberOf, own } from '@portcullis/kit/options'

import type { Profile } from '../algorithms/profiles.ts'
import type { Auth, Possession } from '../claims/auth.ts'
import { type PresentedProof, proofMethods } from '../dpop/proof-check.ts'
import { bindingRefusal } from '../possession/binding.ts'
import {
  boundToNothing,
  checkedNothing,
  lostPossession,
  notBound,
  withoutProof,
} from '../possession/details.ts'
import { mutualTlsMethods } from '../possession/mutual-tls.ts'
import type { Verifier, VerifyOptions } from '../verifier/verifier.ts'
import { type Credentials, type FetchRequest, findProof, type RequestHeaders } from './bearer.ts'
import type { GuardOptions } from './guard-options.ts'
import { needsProof, profileOf } from './profile.ts'
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
  const profile = profileOf(options)
  const wantedWith = (jkt: string | undefined): Wanted => ({
    token,
    jkt,
    x5tS256: textOf(mutualTls && mutualTlsMethods(mutualTls).thumbprintOf(parts.incoming)),
    isCertificateRequired: mutualTls?.required === true,
    profile,
    waitUntil: parts.waitUntil,
  })
  // Under `Bearer` a proof is not looked at: a thief would take the scheme that asks for less.
  if (dpop === undefined || scheme !== 'DPoP') {
    if (needsProof(options)) throw bindingRefusal(withoutProof)
    return await verifyWanted(verifier, wantedWith(undefined))
  }
  const requests = [parts.subject, parts.request]
  const asked = askedOf(parts, token, profile)
  const used = findUsedProof(requests, dpop, asked)
  // Another guard has used it, which may be held to less.
  const isChecked = used !== undefined && used.asked.profile === profile
  const proof = isChecked ? used.proof : await proofMethods(dpop).check(asked)
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

function askedOf(
  { request, subject }: RequestParts,
  token: string,
  profile: Profile | undefined,
): PresentedProof {
  return Object.freeze({
    proof: findProof(request),
    method: methodOf(request),
    target: targetOf(request, subject),
    token,
    profile,
  })
}

interface Wanted {
  readonly token: string
  readonly jkt: string | undefined
  readonly x5tS256: string | undefined
  readonly isCertificateRequired: boolean
  /** With one, a token that is bound to nothing is refused. */
  readonly profile: Profile | undefined
  readonly waitUntil: WaitUntil | undefined
}

async function verifyWanted(
  verifier: Verifier<unknown>,
  { token, jkt, x5tS256, isCertificateRequired, profile, waitUntil }: Wanted,
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
  if (profile !== undefined && jkt === undefined && !isConfirmed(x5tS256, confirmed)) {
    throw bindingRefusal(boundToNothing(profile.name))
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
