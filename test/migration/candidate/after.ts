import { type ClientFetch, createTokenClient } from '@portcullis/client'
import { type Clock, createVerifier } from '@portcullis/core'
import { type Explanation } from '@portcullis/core/explain'
import { authErrorOf } from '@portcullis/nest'
import { type RedisRevocations } from '@portcullis/redis'
import { createTestIssuer, type Outage, type Rotation } from '@portcullis/testing'

// A service and its tests that use each name which a release candidate had under another one.

const issuer = await createTestIssuer()
const verifier = createVerifier(issuer.verifierOptions)
const { claims } = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))

export function answered(exception: unknown): import('@portcullis/core').AuthError['status'] {
  return authErrorOf(exception)?.status ?? 503
}

export interface Service {
  readonly clock: Clock
  readonly fetch: ClientFetch
  readonly freshness: import('@portcullis/client').TokenClientStatus['freshness']
  readonly algorithm: NonNullable<import('@portcullis/client').DpopOptions['algorithm']>
  readonly format: NonNullable<import('@portcullis/core').MutualTlsOptions['format']>
  readonly headers: import('@portcullis/core').FetchResponse['headers']
  readonly check: import('@portcullis/core/explain').Finding['check']
  readonly hint: import('@portcullis/core/explain').Hint['name']
  readonly explanation: Explanation
  readonly revocations: RedisRevocations
  readonly trigger: NonNullable<import('@portcullis/redis').RevocationsMessage['trigger']>
  readonly state: import('@portcullis/redis').RedisRevocationsStatus['state']
  readonly revoking: import('@portcullis/redis').RevocationStoreError['reason']
  readonly replaying: import('@portcullis/redis').ReplayStoreError['reason']
}

export interface Tested {
  readonly proof: import('@portcullis/testing').BadProof['reason']
  readonly sent: Awaited<ReturnType<import('@portcullis/testing').DpopClient['headers']>>
  readonly published: import('@portcullis/testing').TestIssuer['keyDocument']
  readonly kind: Exclude<import('@portcullis/testing').OutageKind, number>
  readonly outage: Outage
  readonly rotation: Rotation
  readonly phase: import('@portcullis/testing').KeyPhases['published'][number]
  readonly step: NonNullable<import('@portcullis/testing').Rotation['next']>
  readonly bound: import('@portcullis/core').Possession
  readonly reason: Parameters<typeof import('@portcullis/testing').stubVerifier.refusing>[0]
}

console.log(claims.sub, typeof createTokenClient, answered(new Error('any')))
