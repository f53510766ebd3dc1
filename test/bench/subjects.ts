import { verify } from 'node:crypto'

import {
  authenticateRequest,
  byIssuer,
  type Claims,
  createVerifier,
  type GuardOptions,
  localRevocations,
  remoteKeys,
  type RevocationEntry,
  type Revocations,
  type Verifier,
  type VerifierOptions,
} from '@portcullis/core'
import { checkGuardOptions } from '@portcullis/core/adapter'
import { byForm, introspected } from '@portcullis/introspection'
import { collectMetrics } from '@portcullis/metrics/prometheus'
import { JwtVerifier } from 'aws-jwt-verify'
import type { RequestHandler } from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { createVerifier as createFastVerifier } from 'fast-jwt'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import jsonwebtoken from 'jsonwebtoken'
import jwksRsa from 'jwks-rsa'
import { Registry } from 'prom-client'
import { z } from 'zod'

import {
  AUDIENCE,
  claims as claimsOf,
  createSigner,
  ISSUER,
  type PublicJwk,
  publicKeyOf,
  type Signer,
} from './inputs.ts'
import { type KeyServer, type KeyUrls, listenForKeys } from './key-server.ts'
import type { Subject } from './measure.ts'
import { verifyMinimally } from './minimal.ts'
import { keyInput, RS512, type SignatureKind } from './signature-kinds.ts'

// Everything that is measured, in one shape. The peers are set up as their READMEs say, told the same issuer and audience,
// held to the algorithm of the key where they can be, with their caches on where they have any.

export interface Setting {
  readonly jwk: PublicJwk
  /** How the key signs: RS512 if absent. */
  readonly kind?: SignatureKind
  readonly urls: KeyUrls
  /** How long fetched keys are used, in seconds; left to each library if absent. */
  readonly lifetime?: number | undefined
}

/** A key, who signs with it, and where it is published. */
export async function createSetting(
  kind: SignatureKind = RS512,
): Promise<Setting & { readonly signer: Signer; readonly keyServer: KeyServer }> {
  const signer = createSigner(kind)
  const keyServer = await listenForKeys(signer.jwk)
  return { signer, keyServer, jwk: signer.jwk, kind, urls: keyServer.urls }
}

export type Factory = (setting: Setting) => Subject

export const bareSync: Factory = ({ jwk, kind = RS512 }) => {
  const key = keyInput(kind, publicKeyOf(jwk))
  return {
    name: 'bare `crypto.verify`, synchronous',
    isSync: true,
    verification(token) {
      const end = token.lastIndexOf('.')
      const signingInput = Buffer.from(token.slice(0, end), 'latin1')
      const signature = Buffer.from(token.slice(end + 1), 'base64url')
      return () => verify(kind.hash, signingInput, key, signature)
    },
  }
}

export const minimalSync: Factory = ({ jwk }) => {
  const key = publicKeyOf(jwk)
  return sync('minimal verifier, synchronous', (token) => verifyMinimally(token, key))
}

/** Nothing but a promise and its `await`: the least that any asynchronous verifier can cost. */
export const promiseAlone: Factory = () => promised('a promise, awaited', async (token) => token)

/** As in the first example of the README of `@portcullis/core`. */
export const portcullis: Factory = (setting) => {
  const verifier = verifierOf(setting)
  return promised('Portcullis', (token) => verifier.verify(token))
}

export const portcullisForgetful: Factory = (setting) => {
  const verifier = verifierOf(setting, { remember: false })
  return promised('Portcullis, `remember: false`', (token) => verifier.verify(token))
}

/** One issuer of one. It remembers fewer tokens than are taken in turn, so that one is new when its turn comes. */
export const portcullisByIssuer: Factory = (setting) => {
  const verifier = byIssuer({ [ISSUER]: verifierOf(setting) }, { remember: { max: 1000 } })
  return promised('Portcullis, through `byIssuer`', (token) => verifier.verify(token))
}

export function verifierOf(
  { jwk, urls, lifetime }: Omit<Setting, 'kind'>,
  options: Pick<VerifierOptions, 'remember' | 'revocations'> = {},
): Verifier {
  const keys = remoteKeys(urls.bare, { maxAge: lifetime })
  const algorithms = [jwk.alg]
  return createVerifier({ keys, issuer: ISSUER, audience: AUDIENCE, algorithms, ...options })
}

/** The same for opaque tokens, alone or beside JWTs: the answer of the issuer is held. */
export async function guardOfOpaque(beside?: Verifier): Promise<Subject> {
  const opaque = introspected({
    issuer: ISSUER,
    audience: AUDIENCE,
    endpoint: `${ISSUER}/introspect`,
    clientId: 'api',
    clientSecret: 'secret',
    maxAge: 3600,
    fetch: async () => Response.json({ active: true, token_type: 'Bearer', ...claimsOf(0) }),
  })
  // As long as those of Zitadel and others.
  const token = 'oat_'.padEnd(64, '0123456789abcdef')
  return await guardOf(beside === undefined ? opaque : byForm({ jwt: beside, opaque }), token)
}

/** What a client of an introspection endpoint (RFC 7662) sends, and no more: each token is new. */
export const fetching: Factory = ({ urls }) => {
  const authorization = `Basic ${btoa('api:secret')}`
  return promised('a loop of `fetch`', async (token) => {
    const body = new URLSearchParams({ token })
    const response = await fetch(urls.introspection, {
      method: 'POST',
      headers: { authorization },
      body,
    })
    return await response.json()
  })
}

export const introspecting: Factory = ({ urls }) => {
  const verifier = introspected({
    issuer: ISSUER,
    audience: AUDIENCE,
    endpoint: urls.introspection,
    clientId: 'api',
    clientSecret: 'secret',
    maxAge: 1,
    maxRate: 100_000,
    remember: { max: 1000 },
  })
  return promised('an opaque token, new', (token) => verifier.verify(token))
}

/** As Prometheus asks for it, and prom-client answers: the state of so many key sources. */
export async function scrapeOf({ urls }: Setting, sources: number): Promise<Subject> {
  const named = Array.from(
    { length: sources },
    (_, index) => [`api-${index}`, remoteKeys(urls.bare, { maxAge: 3600 })] as const,
  )
  for (const [, keys] of named)
    await createVerifier({ keys, issuer: ISSUER, audience: AUDIENCE }).ready()
  const register = new Registry()
  collectMetrics(register, { keys: Object.fromEntries(named) })
  return promised(`a scrape of ${sources} key sources`, () => register.metrics())
}

/** A guard whose verifier reads three claims by a schema of zod. */
export async function guardOfZod({ urls }: Setting, token: string): Promise<Subject> {
  const schema = z.object({ sub: z.string(), scope: z.string(), client: z.string() })
  const keys = remoteKeys(urls.bare, { maxAge: 3600 })
  return await guardOf(createVerifier({ keys, issuer: ISSUER, audience: AUDIENCE, schema }), token)
}

/** What an adapter calls for each request, with a token that has been accepted already: there must be no promise then. */
export async function guardOf(
  verifier: Verifier<unknown>,
  token: string,
  guard: GuardOptions = {},
): Promise<Subject> {
  const options = checkGuardOptions(verifier, guard)
  const request = { headers: { authorization: `Bearer ${token}` } }
  await verifier.verify(token)
  return sync('Portcullis, as a guard', () => {
    const answer = authenticateRequest(verifier, request, options, request)
    if (answer instanceof Promise) throw new Error('a remembered token was answered later')
    return answer
  })
}

/** Whether a token was revoked, alone: there are so many entries, and none is of this token. */
export function lookUpAmong(
  entries: number,
  asked: Claims,
): Subject & { readonly revocations: Revocations } {
  const revocations = localRevocations()
  const { exp = 0 } = asked
  const entryAt = (index: number): RevocationEntry => ({
    type: 'token',
    iss: ISSUER,
    jti: `${index}-9f0c3f5e8b7a`,
    exp,
  })
  revocations.load(Array.from({ length: entries }, (_, index) => entryAt(index)))
  const now = Date.now() / 1000
  const look = () => revocations.statusOf(asked, now) === 'valid'
  return { ...sync(`a look-up among ${entries} revocations`, look), revocations }
}

/** README, "createVerifier": a PEM key, the algorithms listed. */
export const fastJwt: Factory = ({ jwk }) => sync('fast-jwt, key given', fastVerifier(jwk, false))

/** README, "Caching": `cache: true` is 1,000 tokens, each under its SHA-512. */
export const fastJwtCached: Factory = ({ jwk }) =>
  sync('fast-jwt, with its cache', fastVerifier(jwk, true))

function fastVerifier(jwk: PublicJwk, cache: boolean): (token: string) => unknown {
  const { alg } = jwk
  if (alg === 'ML-DSA-44' || alg === 'ML-DSA-65') throw new TypeError('fast-jwt does not know it')
  const key = publicKeyOf(jwk).export({ type: 'spki', format: 'pem' }).toString()
  const rules = { algorithms: [alg], allowedIss: ISSUER, allowedAud: AUDIENCE }
  const verifyFast = createFastVerifier({ key, cache, ...rules })
  return (token): unknown => verifyFast(token)
}

/** README, "Verifying JWTs from any OIDC-compatible IDP" and "Loading the JWKS from file": it fetches over TLS alone. */
export const awsJwtVerify: Factory = (setting) => {
  const verifier = awsVerifierOf(setting)
  return promised('aws-jwt-verify', (token) => verifier.verify(token))
}

export function awsVerifierOf({ jwk, urls }: Setting): { verify(token: string): Promise<unknown> } {
  const verifier = JwtVerifier.create({ issuer: ISSUER, audience: AUDIENCE, jwksUri: urls.set })
  verifier.cacheJwks({ keys: [{ ...jwk }] })
  return verifier
}

/** README, "Using a remote JSON Web Key Set": with what the page of `jwtVerify` says of claims. */
export const jose: Factory = ({ jwk, urls, lifetime }) => {
  const keySet = createRemoteJWKSet(new URL(urls.set), maxAgeOf(lifetime))
  const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: [jwk.alg] }
  return promised('jose, with a key set', (token) => jwtVerify(token, keySet, rules))
}

/** README, "Getting started": `auth(options)`, with the URL of the keys in place of a discovery. */
export function expressOauth2Guard({ urls, lifetime }: Setting, dpop = false): RequestHandler {
  return auth({
    issuer: ISSUER,
    jwksUri: urls.set,
    audience: AUDIENCE,
    tokenSigningAlg: 'RS512',
    ...maxAgeOf(lifetime),
    // "DPoP Authentication".
    ...(dpop ? { dpop: { enabled: true } } : {}),
  })
}

export const expressOauth2: Factory = (setting) => {
  const guard = expressOauth2Guard(setting)
  return promised('express-oauth2-jwt-bearer', (token) =>
    answeredByExpress(guard, requestWith({ authorization: `Bearer ${token}` })),
  )
}

/** What a middleware of Express makes of a request. */
export async function answeredByExpress(guard: RequestHandler, request: object): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const next = (error?: Error) => {
      if (error === undefined) resolve(request)
      else reject(error)
    }
    Reflect.apply(guard, undefined, [request, {}, next])
  })
}

/** As much of Express's request as its middleware reads. */
export function requestWith(own: Readonly<Record<string, string>>, protocol = 'http') {
  const headers: Readonly<Record<string, string>> = { host: 'api.test', ...own }
  return {
    method: 'GET',
    url: '/',
    originalUrl: '/',
    protocol,
    headers,
    query: {},
    get: (name: string) => headers[name.toLowerCase()],
    is: () => false,
  }
}

/** README of jsonwebtoken, "jwt.verify": "Verify using getKey callback"; jwks-rsa caches its keys by default. */
export const jsonwebtokenWithJwksRsa: Factory = ({ urls, lifetime }) => {
  const client = jwksRsa({ jwksUri: urls.set, ...maxAgeOf(lifetime) })
  const getKey: jsonwebtoken.GetPublicKeyOrSecret = (header, callback) => {
    client.getSigningKey(header.kid, (error, key) => {
      callback(error, key?.getPublicKey())
    })
  }
  const options = { algorithms: ['RS512' as const], issuer: ISSUER, audience: AUDIENCE }
  const verifyToken = (token: string) =>
    new Promise<unknown>((resolve, reject) => {
      jsonwebtoken.verify(token, getKey, options, (error, claims) => {
        if (error === null) resolve(claims)
        else reject(error)
      })
    })
  return promised('jsonwebtoken + jwks-rsa', verifyToken)
}

/** As three of the peers have it. */
function maxAgeOf(lifetime: number | undefined): { cacheMaxAge?: number } {
  return lifetime === undefined ? {} : { cacheMaxAge: lifetime * 1000 }
}

function sync(name: string, verifyToken: (token: string) => unknown): Subject {
  return { name, isSync: true, verification: (token) => () => verifyToken(token) }
}

function promised(name: string, verifyToken: (token: string) => Promise<unknown>): Subject {
  return { name, isSync: false, verification: (token) => () => verifyToken(token) }
}
