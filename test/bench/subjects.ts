import { verify } from 'node:crypto'

import {
  authenticateRequest,
  byIssuer,
  type Claims,
  createVerifier,
  dpopProofs,
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
import { JwtVerifier } from 'aws-jwt-verify'
import type { RequestHandler } from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { createVerifier as createFastVerifier } from 'fast-jwt'
import buildGetJwks from 'get-jwks'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import jsonwebtoken from 'jsonwebtoken'
import jwksRsa from 'jwks-rsa'

import { AUDIENCE, claims as claimsOf, ISSUER, type PublicJwk, publicKeyOf } from './inputs.ts'
import type { KeyUrls } from './key-server.ts'
import { verifyInPool, verifyMinimally, verifyMinimallyInPool } from './minimal.ts'
import { keyInput, RS512, type SignatureKind } from './signature-kinds.ts'

// Everything that is measured, in one shape. The peers are set up as their READMEs say, told the same issuer and audience,
// held to the algorithm of the key where they can be, with their caches on where they have any.

/** A way to verify a token. */
export interface Subject {
  readonly name: string
  /** Whether it answers at once: awaiting would then be a price of the bench. */
  readonly isSync: boolean
  /**
   * What checks this token: it throws or rejects, or answers `false`, if the token is refused. What is prepared before
   * is not measured; only the bare call prepares anything.
   */
  verification(token: string): () => unknown
}

interface Setting {
  readonly jwk: PublicJwk
  /** How the key signs: RS512 if absent. */
  readonly kind?: SignatureKind
  readonly urls: KeyUrls
  /** How long fetched keys are used, in seconds; left to each library if absent. */
  readonly lifetime?: number | undefined
}

type Factory = (setting: Setting) => Subject

export const bareSync: Factory = ({ jwk, kind = RS512 }) => {
  const key = keyInput(kind, publicKeyOf(jwk))
  return {
    name: 'bare `crypto.verify`, synchronous',
    isSync: true,
    verification(token) {
      const { signingInput, signature } = inputOf(token)
      return () => verify(kind.hash, signingInput, key, signature)
    },
  }
}

export const bareInPool: Factory = ({ jwk, kind = RS512 }) => {
  const key = keyInput(kind, publicKeyOf(jwk))
  return {
    name: 'bare `crypto.verify`, with a callback',
    isSync: false,
    verification(token) {
      const { signingInput, signature } = inputOf(token)
      return async () => await verifyInPool(kind.hash, signingInput, key, signature)
    },
  }
}

export const minimalSync: Factory = ({ jwk }) => {
  const key = publicKeyOf(jwk)
  return sync('minimal verifier, synchronous', (token) => verifyMinimally(token, key))
}

export const minimalInPool: Factory = ({ jwk }) => {
  const key = publicKeyOf(jwk)
  return promised('minimal verifier, thread pool', (token) => verifyMinimallyInPool(token, key))
}

/** Nothing but a promise and its `await`: the least that any asynchronous verifier can cost. */
export const promiseAlone: Factory = () => promised('a promise, awaited', async (token) => token)

/** As in the first example of the README of `@portcullis/core`. */
export const portcullis: Factory = (setting) => portcullisWith('Portcullis', setting, {})

export const portcullisForgetful: Factory = (setting) =>
  portcullisWith('Portcullis, `remember: false`', setting, { remember: false })

/** One issuer of one. It remembers fewer tokens than are taken in turn, so that one is new when its turn comes. */
export const portcullisByIssuer: Factory = (setting) => {
  const verifier = byIssuer({ [ISSUER]: verifierOf(setting, {}) }, { remember: { max: 1000 } })
  return promised('Portcullis, through `byIssuer`', (token) => verifier.verify(token))
}

function portcullisWith(
  name: string,
  setting: Setting,
  options: { readonly remember?: false },
): Subject {
  const verifier = verifierOf(setting, options)
  return promised(name, (token) => verifier.verify(token))
}

function verifierOf(
  { jwk, urls, lifetime }: Setting,
  options: Pick<VerifierOptions, 'remember' | 'revocations'>,
): Verifier {
  const keys = remoteKeys(urls.bare, { maxAge: lifetime })
  const algorithms = [jwk.alg]
  return createVerifier({ keys, issuer: ISSUER, audience: AUDIENCE, algorithms, ...options })
}

/** What an adapter calls for each request, with a token that has been accepted already: there must be no promise then. */
export async function guardThatRemembers(
  setting: Setting,
  token: string,
  behind: {
    readonly revocations?: Revocations
    readonly isByIssuer?: boolean
    readonly takesDpop?: boolean
  } = {},
): Promise<Subject> {
  const { revocations, isByIssuer = false, takesDpop = false } = behind
  const one = longLived(setting, { revocations })
  const verifier = isByIssuer ? byIssuer({ [ISSUER]: one }) : one
  const kind = `${revocations === undefined ? '' : ' that asks revocations'}${isByIssuer ? ' of `byIssuer`' : ''}${takesDpop ? ' that takes DPoP' : ''}`
  const dpop = takesDpop ? dpopProofs({ origin: 'https://api.test' }) : undefined
  return await guardWith(verifier, kind, token, { dpop })
}

/** The same for opaque tokens, alone and beside JWTs: the answer of the issuer is held. */
export async function guardThatHoldsAnswers(setting: Setting, isByForm: boolean): Promise<Subject> {
  const opaque = introspected({
    issuer: ISSUER,
    audience: AUDIENCE,
    endpoint: `${ISSUER}/introspect`,
    clientId: 'api',
    clientSecret: 'secret',
    maxAge: 3600,
    fetch: async () => Response.json({ active: true, token_type: 'Bearer', ...claimsOf(0) }),
  })
  const jwt = longLived(setting, {})
  const verifier = isByForm ? byForm({ jwt, opaque }) : opaque
  const kind = isByForm ? ' of `byForm`, opaque token' : ', opaque token'
  const guard = await guardWith(verifier, kind, OPAQUE_TOKEN)
  return { ...guard, verification: () => guard.verification(OPAQUE_TOKEN) }
}

/** As long as those of Zitadel and others. */
const OPAQUE_TOKEN = 'oat_'.padEnd(64, '0123456789abcdef')

/** Whose keys do not grow old while other subjects are measured. */
function longLived(setting: Setting, options: Pick<VerifierOptions, 'revocations'>): Verifier {
  return verifierOf({ ...setting, lifetime: 3600 }, options)
}

async function guardWith(
  verifier: Verifier,
  kind: string,
  token: string,
  guard: GuardOptions = {},
): Promise<Subject> {
  const options = checkGuardOptions(verifier, guard)
  await verifier.verify(token)
  return {
    name: `Portcullis, as a guard${kind}`,
    isSync: true,
    verification(repeated) {
      const request = { headers: { authorization: `Bearer ${repeated}` } }
      return () => {
        const answer = authenticateRequest(verifier, request, options, request)
        if (answer instanceof Promise) throw new Error('a remembered token was answered later')
        return answer
      }
    },
  }
}

/** Whether a token was revoked, alone: there are so many entries, and none is of this token. */
export function lookUpAmong(
  entries: number,
  asked: Claims,
): Subject & { readonly revocations: Revocations } {
  const revocations = localRevocations()
  const { iss, exp = 0 } = asked
  const issuer = typeof iss === 'string' ? { iss } : {}
  const revokedAt = (index: number): RevocationEntry =>
    Object.assign({ type: 'token', jti: `${index}-9f0c3f5e8b7a`, exp } as const, issuer)
  revocations.load(Array.from({ length: entries }, (_, index) => revokedAt(index)))
  const now = Date.now() / 1000
  return {
    name: `a look-up among ${entries} revocations`,
    isSync: true,
    revocations,
    verification: () => () => revocations.statusOf(asked, now) === 'valid',
  }
}

/** README, "createVerifier": a PEM key, the algorithms listed. */
export const fastJwt: Factory = ({ jwk }) => {
  const verifyFast = createFastVerifier({ key: pemOf(jwk), ...fastJwtRules(jwk) })
  return sync('fast-jwt, key given', (token) => verifyFast(token))
}

/** README, "Caching": `cache: true` is 1,000 tokens, each under its SHA-512. */
export const fastJwtCached: Factory = ({ jwk }) => {
  const verifyFast = createFastVerifier({ key: pemOf(jwk), cache: true, ...fastJwtRules(jwk) })
  return sync('fast-jwt, with its cache', (token) => verifyFast(token))
}

/** README, "Caching": the identity as `cacheKeyBuilder`, where keeping whole tokens is no concern. */
export const fastJwtCachedWhole: Factory = ({ jwk }) => {
  const verifyFast = createFastVerifier({
    key: pemOf(jwk),
    cache: true,
    cacheKeyBuilder: (token) => token,
    ...fastJwtRules(jwk),
  })
  return sync('fast-jwt, its cache by the whole token', (token) => verifyFast(token))
}

/** README of get-jwks, "fast-jwt": with the issuers listed; both caches on. */
export const fastJwtWithGetJwks: Factory = ({ jwk, urls, lifetime }) => {
  const ttl = lifetime === undefined ? {} : { ttl: lifetime * 1000 }
  const getJwks = buildGetJwks({ issuersWhitelist: [urls.domain], ...ttl })
  const verifyFast = createFastVerifier({
    key: async ({ header }: { header: { kid?: string; alg?: string } }) =>
      await getJwks.getPublicKey({ ...header, domain: urls.domain }),
    cache: true,
    ...fastJwtRules(jwk),
  })
  return promised('fast-jwt + get-jwks', (token) => verifyFast(token))
}

/** README, "Verifying JWTs from any OIDC-compatible IDP" and "Loading the JWKS from file": it fetches over TLS alone. */
export const awsJwtVerify: Factory = ({ jwk, urls }) => {
  const verifier = JwtVerifier.create({ issuer: ISSUER, audience: AUDIENCE, jwksUri: urls.set })
  verifier.cacheJwks({ keys: [{ ...jwk }] })
  return promised('aws-jwt-verify', (token) => verifier.verify(token))
}

/** README, "Using a remote JSON Web Key Set": with what the page of `jwtVerify` says of claims. */
export const jose: Factory = ({ jwk, urls, lifetime }) => {
  const options = lifetime === undefined ? {} : { cacheMaxAge: lifetime * 1000 }
  const keySet = createRemoteJWKSet(new URL(urls.set), options)
  const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: [jwk.alg] }
  return promised('jose, with a key set', (token) => jwtVerify(token, keySet, rules))
}

/** README, "Getting started": `auth(options)`, with the URL of the keys in place of a discovery. */
export const expressOauth2: Factory = ({ urls, lifetime }) => {
  const guard = auth({
    issuer: ISSUER,
    jwksUri: urls.set,
    audience: AUDIENCE,
    tokenSigningAlg: 'RS512',
    ...(lifetime === undefined ? {} : { cacheMaxAge: lifetime * 1000 }),
  })
  return promised('express-oauth2-jwt-bearer', (token) =>
    answeredByExpress(guard, expressRequest(token)),
  )
}

/** What a middleware of Express makes of as much of a request as it reads. */
export async function answeredByExpress(guard: RequestHandler, request: object): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const next = (error?: Error) => {
      if (error === undefined) resolve(request)
      else reject(error)
    }
    Reflect.apply(guard, undefined, [request, {}, next])
  })
}

/** README of jsonwebtoken, "jwt.verify": "Verify using getKey callback"; jwks-rsa caches its keys by default. */
export const jsonwebtokenWithJwksRsa: Factory = ({ urls, lifetime }) => {
  const client = jwksRsa({
    jwksUri: urls.set,
    ...(lifetime === undefined ? {} : { cacheMaxAge: lifetime * 1000 }),
  })
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

function fastJwtRules({ alg }: PublicJwk) {
  if (alg === 'ML-DSA-44' || alg === 'ML-DSA-65') throw new TypeError('fast-jwt does not know it')
  return { algorithms: [alg], allowedIss: ISSUER, allowedAud: AUDIENCE }
}

function sync(name: string, verifyToken: (token: string) => unknown): Subject {
  return { name, isSync: true, verification: (token) => () => verifyToken(token) }
}

function promised(name: string, verifyToken: (token: string) => Promise<unknown>): Subject {
  return { name, isSync: false, verification: (token) => () => verifyToken(token) }
}

function inputOf(token: string): { signingInput: Buffer; signature: Buffer } {
  const end = token.lastIndexOf('.')
  return {
    signingInput: Buffer.from(token.slice(0, end), 'latin1'),
    signature: Buffer.from(token.slice(end + 1), 'base64url'),
  }
}

function pemOf(jwk: PublicJwk): string {
  return publicKeyOf(jwk).export({ type: 'spki', format: 'pem' }).toString()
}

/** As much of Express's request as its middleware reads. */
function expressRequest(token: string): object {
  const headers = new Map([
    ['host', 'api.test'],
    ['authorization', `Bearer ${token}`],
  ])
  return {
    method: 'GET',
    url: '/',
    originalUrl: '/',
    protocol: 'http',
    headers: Object.fromEntries(headers),
    query: {},
    get: (name: string) => headers.get(name.toLowerCase()),
    is: () => false,
  }
}
