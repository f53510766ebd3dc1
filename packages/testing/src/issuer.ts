import type { Algorithm, RemoteKeys } from '@portcullis/core'
import type { JWK } from 'jose'

import { type Clock, systemClock } from './clock.ts'
import { checkIssuerOptions, type TestIssuerOptions } from './issuer-options.ts'
import type { KeyPhases } from './keys/key-phases.ts'
import {
  createKeyRotation,
  type KeyDocument,
  type PendingRotation,
  type RotateOptions,
  type Rotation,
  settledOn,
} from './keys/key-rotation.ts'
import { checkPlatform } from './keys/ml-dsa.ts'
import { type PrivateKeys, privateKeysOf, readKeys } from './keys/private-keys.ts'
import { createSigningKey, type SigningKey } from './keys/signing-key.ts'
import { connectBackend } from './service/backend.ts'
import { serviceOf, type TokenService } from './service/emulation.ts'
import {
  createOutages,
  type Outage,
  type OutageInForce,
  type OutageKind,
  type OutageOptions,
} from './service/outage.ts'
import { createRequestLog, type SeenRequest } from './service/request-log.ts'
import { keysBehind } from './stub.ts'
import type { BadToken, BadTokenKind } from './tokens/bad-token.ts'
import { createBadTokenKinds, createBadTokens } from './tokens/bad-tokens.ts'
import { createEdgeTokens, type EdgeToken } from './tokens/edge-tokens.ts'
import { signToken, type TokenTableOptions, type TokenOptions } from './tokens/token.ts'

/** An issuer with a key of its own, and a token service in the same process. */
export interface TestIssuer {
  /** The public half of the key that it signs with. */
  readonly publicJwk: Readonly<JWK>
  /**
   * What a later run needs to go on where this one is, also in the middle of a rotation: the option `key` takes it. Whoever
   * has it can sign any token of this issuer.
   */
  privateKeys(): Promise<PrivateKeys>
  /** Seconds from `iat` to `exp` in its tokens. */
  readonly lifetime: number
  /**
   * For `createVerifier`. The keys come from the issuer's service, so rotations and outages have their effect. All verifiers
   * made of them share one key cache. For another cache, replace `keys` by `remoteKeys` with the `keyUrl` and the `fetch` of
   * `tokenService(issuer)`.
   */
  readonly verifierOptions: {
    readonly keys: RemoteKeys
    readonly issuer: string | null
    readonly audience: string | readonly string[] | null
    readonly algorithms: readonly Algorithm[]
    readonly type: string | undefined
    readonly maxTokenAge: number | undefined
    readonly clock: Clock
  }
  /**
   * For `createTokenClient`, with `origins` of your own. Its `fetch` answers for the token service, and passes every other
   * request to the platform's `fetch`.
   */
  readonly clientOptions: {
    readonly authUrl: string
    readonly loginId: string
    readonly password: string
    readonly origins: readonly string[]
    readonly fetch: TokenService['fetch']
    readonly clock: Clock
  }
  /** Signs a token, sound or not. */
  token(options?: TokenOptions): Promise<string>
  /** A header with a token, for supertest, inject and fetch. */
  bearer(options?: TokenOptions): Promise<{ authorization: string }>
  /**
   * Tokens of every kind that a verifier made of `verifierOptions` must refuse, each with its `reason`.
   *
   * What is refused for `issuer`, `audience`, `type` or `too_old` is part of it if the issuer states them (`maxTokenAge` for
   * the last), and `unknown_key` if the document is a set. All can be sent in a header, but over HTTP Node answers the one
   * that is `too_large` by itself, with 431.
   *
   * They are made for the key document as it is now, as if there were no outage. In the middle of a rotation their key is one
   * that is published, which need not be the one that signs. An unknown `kid` is an `unknown_key` only if the document is a
   * set: a bare key is tried for any `kid`. The tokens that are about time are refused for
   * that only for a while; the others expire in a hundred years, so that the clock can be moved, by up to `maxTokenAge` if
   * that is stated.
   */
  badTokens(options?: TokenTableOptions): Promise<readonly BadToken[]>
  /** The same table with nothing but the names: a token is signed when `make()` asks for it. */
  badTokenKinds(options?: TokenTableOptions): Promise<readonly BadTokenKind[]>
  /**
   * Unusual tokens that such a verifier must accept, made for the same document and as long-lived. One of them has expired
   * within the tolerance of 5 s, and stays there for 4 s of the clock.
   */
  edgeTokens(options?: TokenTableOptions): Promise<readonly EdgeToken[]>
  /**
   * Changes to a new key. Some rotations have a second half: `complete()` of the result. Verifiers fetch keys once a second
   * at most, so a manual clock must be moved that far before they see the change.
   */
  rotate(options?: RotateOptions): Promise<Rotation>
  /** The last rotation, if its second half is not done yet: also one of an earlier run, by the option `key`. */
  pendingRotation(): PendingRotation | undefined
  /**
   * Undoes the last rotation that is not undone yet, both halves of it: the key that signed before signs again, and the document
   * is as it was. The last 100 rotations can be undone.
   *
   * @throws TypeError if there is none.
   */
  rollBack(): void
  /** What its key endpoint serves, as if there were no outage: one key, or a set. */
  readonly keyDocument: KeyDocument
  /** Its keys, in the order in which they appeared, and when each was in use. The newest 100 are kept. */
  keyPhases(): readonly KeyPhases[]
  /**
   * Lets its services misbehave.
   *
   * @throws TypeError for a kind that does not exist, and for a wrong or misspelt option.
   */
  outage(kind: OutageKind, options?: OutageOptions): Outage
  /** The outages that go on, in the order in which they began. Each can be ended. */
  outages(): readonly OutageInForce[]
  /** The requests to its services, in their order. The newest `maxRequests` are kept. */
  requests(): readonly SeenRequest[]
  /**
   * Calls the listener for each request from now on, once it is answered or never will be. If the listener throws, the request
   * fails.
   *
   * @returns A function that ends it.
   */
  watchRequests(listener: (request: SeenRequest) => void): () => void
}

/**
 * Creates an issuer with a fresh key, which takes most of the time. It signs any claims, sound or not: for tests.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export async function createTestIssuer(options: TestIssuerOptions = {}): Promise<TestIssuer> {
  checkIssuerOptions(options)
  const { clock = systemClock, issuer, audience, algorithm = 'RS512', lifetime = 300 } = options
  const { type, maxTokenAge } = options
  const { omitFromKey = [], key } = options
  await checkPlatform('createTestIssuer', algorithm)
  const first =
    key === undefined
      ? settledOn(await createSigningKey(algorithm, omitFromKey))
      : await readKeys(key, algorithm, omitFromKey)
  const keys = createKeyRotation(clock, first, omitFromKey)
  const log = createRequestLog(clock, options.maxRequests ?? 10_000)
  let strangersKey: Promise<SigningKey> | undefined
  // Created when it is first needed, since making a key takes longer than everything else here.
  const stranger = async () => await (strangersKey ??= createSigningKey(algorithm))
  const outages = createOutages(clock, keys, async () => (await stranger()).publicJwk)
  const defaults = { clock, keys, issuer, audience, lifetime, type, maxTokenAge }
  const token = async (tokenOptions: TokenOptions = {}) => await signToken(defaults, tokenOptions)
  const backend = { clock, keys, outages, log, token }
  const service = serviceOf(backend)
  const { authUrl, keyUrl } = service

  const testIssuer: TestIssuer = {
    get publicJwk() {
      return keys.signing.publicJwk
    },
    get keyDocument() {
      return keys.document
    },
    privateKeys: async () => await privateKeysOf(keys.state),
    lifetime,
    verifierOptions: {
      keys: keysBehind(keyUrl, service.fetch, clock),
      issuer: issuer ?? null,
      audience: audience ?? null,
      algorithms: [algorithm],
      type,
      maxTokenAge,
      clock,
    },
    clientOptions: {
      authUrl,
      loginId: 'demo',
      password: 'demo',
      origins: [],
      fetch: fetchBeside(service),
      clock,
    },
    token,
    bearer: async (tokenOptions) => ({ authorization: `Bearer ${await token(tokenOptions)}` }),
    badTokens: async (base) => await createBadTokens(defaults, await stranger(), base),
    badTokenKinds: async (base) => await createBadTokenKinds(defaults, await stranger(), base),
    edgeTokens: async (base) => await createEdgeTokens(defaults, await stranger(), base),
    rotate: async (rotateOptions) => await keys.rotate(rotateOptions),
    pendingRotation: () => keys.pending(),
    rollBack() {
      keys.rollBack()
    },
    keyPhases: () => keys.phases(),
    outage: (kind, outageOptions) => outages.begin(kind, outageOptions),
    outages: () => outages.inForce(),
    requests: () => log.copy(),
    watchRequests: (listener) => log.watch(listener),
  }
  connectBackend(testIssuer, backend)
  return testIssuer
}

/** Answers for the service, and passes other requests on. */
function fetchBeside(service: TokenService): TokenService['fetch'] {
  const emulated = new URL(service.authUrl).origin
  return async (input, init) => {
    const { origin } = new URL(input instanceof Request ? input.url : input)
    // The platform's is looked up at each call, so that replacing it works.
    const { fetch } = origin === emulated ? service : globalThis
    return await fetch(input, init)
  }
}
