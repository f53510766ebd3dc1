import type { Algorithm, RemoteKeys } from '@portcullis/core'
import type { JWK } from 'jose'

import { type Clock, systemClock } from './clock.ts'
import { checkIssuerOptions, type TestIssuerOptions } from './issuer-options.ts'
import type { KeyPhases } from './keys/key-phases.ts'
import {
  createKeyRotation,
  type RotateOptions,
  type Rotation,
  settledOn,
} from './keys/key-rotation.ts'
import { checkPlatform } from './keys/ml-dsa.ts'
import { type PrivateKeys, privateKeysOf, readKeys } from './keys/private-keys.ts'
import { createSigningKey, type SigningKey } from './keys/signing-key.ts'
import { connectBackend } from './service/backend.ts'
import { serviceOf, type TokenService } from './service/emulation.ts'
import type { OutageKind } from './service/misbehaviours.ts'
import { createOutages, type Outage, type OutageOptions } from './service/outage.ts'
import { createRequestLog, type SeenRequest } from './service/request-log.ts'
import { keysBehind } from './stub.ts'
import type { BadToken } from './tokens/bad-token.ts'
import { createBadTokens } from './tokens/bad-tokens.ts'
import { createEdgeTokens } from './tokens/edge-tokens.ts'
import { signToken, type TokenOptions } from './tokens/token.ts'

// The test issuer: joins keys, tokens, the token service and its outages to one object.

/** A test issuer: it has its own key, signs tokens, and has token services in the same process. */
export interface TestIssuer {
  /** The public key of the key pair that it signs with. */
  readonly publicJwk: Readonly<JWK>
  /** What a later run continues from, as the option `key`, also in the middle of a rotation. Whoever has it can sign any token. */
  privateKeys(): Promise<PrivateKeys>
  /** Seconds from `iat` to `exp` in its tokens. */
  readonly lifetime: number
  /**
   * All options for `createVerifier`. The keys come from the issuer's service, with its rotations and outages, by one cache for all.
   * For another cache, replace `keys` with `remoteKeys`, with the `keyUrl` and the `fetch` of `tokenService(issuer)`.
   */
  readonly verifierOptions: {
    readonly keys: RemoteKeys
    readonly issuer: string | null
    readonly audience: string | readonly string[] | null
    readonly algorithms: readonly Algorithm[]
    readonly type: string | readonly string[] | undefined
    readonly maxTokenAge: number | undefined
    readonly clock: Clock
  }
  /** All options for `createTokenClient`. State your own `origins`. `fetch` answers for the service, and passes other requests on. */
  readonly clientOptions: {
    readonly authUrl: string
    readonly loginId: string
    readonly password: string
    readonly origins: readonly string[]
    readonly fetch: TokenService['fetch']
    readonly clock: Clock
  }
  /** Signs a token, valid or not. */
  token(options?: TokenOptions): Promise<string>
  /** Signs a token, and returns it as the header `authorization`, for supertest, inject and fetch. */
  bearer(options?: TokenOptions): Promise<{ authorization: string }>
  /**
   * Tokens of every kind that a verifier made of `verifierOptions` must refuse, each with its `reason`.
   *
   * The reasons `issuer`, `audience` and `too_old` need that option of the issuer (`maxTokenAge` for the last), and `unknown_key` a
   * key document that is a set: a single key is tried for any `kid`. Over HTTP Node itself answers the `too_large` one, with 431.
   *
   * They fit the key document of this moment, as if there were no outage; in the middle of a rotation their key is a published one.
   * Those that test a time are refused for it only for some time. The others expire in a hundred years, so that a test can move the
   * clock, but by no more than `maxTokenAge` if that is stated.
   */
  badTokens(
    options?: Pick<TokenOptions, 'claims' | 'header' | 'boundTo'>,
  ): Promise<readonly BadToken[]>
  /**
   * Unusual tokens that such a verifier must accept, for the same document and as long. One has expired, and is accepted by the
   * tolerance of 5 s alone, until the clock has moved by 4 s.
   */
  edgeTokens(
    options?: Pick<TokenOptions, 'claims' | 'header' | 'boundTo'>,
  ): Promise<readonly { readonly name: string; readonly token: string }[]>
  /**
   * Changes to a new key. Some rotations have a second step: call `complete()` of the result. Verifiers fetch keys at most
   * once a second, so move a manual clock by a second before they can see the change.
   */
  rotate(options?: RotateOptions): Promise<Rotation>
  /** The last rotation, if its second step is not done yet. It may be from an earlier run (option `key`). */
  pendingRotation(): Rotation | undefined
  /**
   * Undoes both steps of the last rotation that was not undone yet: signer and document are as before. The last 100 can be undone.
   *
   * @throws TypeError if there is no rotation to undo.
   */
  rollBack(): void
  /** What its key endpoint serves, as if there were no outage: one key, or a set. */
  readonly keyDocument: Readonly<JWK> | { readonly keys: readonly Readonly<JWK>[] }
  /** When each of its keys was published and used, in the order in which they appeared. The newest 100 keys are kept. */
  keyPhases(): readonly KeyPhases[]
  /**
   * Lets its services misbehave.
   *
   * @throws TypeError for a kind that does not exist, and for a wrong or misspelt option.
   */
  outage(kind: OutageKind, options?: OutageOptions): Outage
  /** The outages that are not over, in the order in which they began. */
  outages(): readonly Outage[]
  /** The requests to its services, oldest first. The newest `maxRequests` are kept. */
  requests(): readonly SeenRequest[]
  /**
   * Calls the listener for each later request when that has ended, answered or not. If it throws, the request fails.
   *
   * @returns A function that removes the listener.
   */
  watchRequests(listener: (request: SeenRequest) => void): () => void
}

/**
 * Creates an issuer with a new key, unless one is given: to make it takes most of the time. It signs any claims: only for tests.
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
  // Created when it is first needed, because to make a key takes longer than everything else here.
  const stranger = async () => await (strangersKey ??= createSigningKey(algorithm))
  const outages = createOutages(clock, keys, async () => (await stranger()).publicJwk)
  const defaults = { clock, keys, issuer, audience, lifetime, type, maxTokenAge }
  const token = async (tokenOptions: TokenOptions = {}) => await signToken(defaults, tokenOptions)
  const backend = { clock, keys, outages, log, token, defaults, stranger }
  const service = serviceOf(backend)
  const { authUrl, keyUrl } = service

  const testIssuer: TestIssuer = {
    get publicJwk() {
      return keys.state.signing.publicJwk
    },
    get keyDocument() {
      return keys.state.document
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

function fetchBeside(service: TokenService): TokenService['fetch'] {
  const emulated = new URL(service.authUrl).origin
  return async (input, init) => {
    const { origin } = new URL(input instanceof Request ? input.url : input)
    // The platform's is looked up at each call, so that replacing it works.
    const { fetch } = origin === emulated ? service : globalThis
    return await fetch(input, init)
  }
}
