import { createTokenClient } from '@portcullis/client'
import { createOAuthClient } from '@portcullis/client/oauth'
import {
  byIssuer,
  createVerifier,
  discoverKeys,
  dpopProofs,
  mutualTls,
  remoteKeys,
} from '@portcullis/core'
import { introspected } from '@portcullis/introspection'
import { expressEndpoint } from '@portcullis/mcp'
import { redisReplays, redisRevocations } from '@portcullis/redis'
import {
  assertChallenge,
  createTestIssuer,
  dpopClient,
  eventTransmitter,
  introspectionService,
  reportVerdicts,
  stubVerifier,
  tokenService,
} from '@portcullis/testing'

const keyUrl = 'https://auth.test/keys'

/** What takes the options of each table in a document, by the name of the part that is written there. */
export const OPTION_TABLES: Readonly<Record<string, (options: never) => unknown>> = {
  'options core VerifierOptions SchemaOptions': createVerifier,
  'options core RemoteKeysOptions': (options) => remoteKeys(keyUrl, options),
  'options core ByIssuerOptions': (options) => byIssuer(() => undefined, options),
  'options core DpopProofsOptions': dpopProofs,
  'options core MutualTlsOptions': mutualTls,
  'options client TokenClientOptions': createTokenClient,
  'options client OAuthClientOptions': createOAuthClient,
  'options introspection IntrospectedOptions SchemaOptions': introspected,
  'options mcp EndpointOptions': (options) =>
    expressEndpoint(stubVerifier(), options, () => undefined),
  'options redis RedisRevocationsOptions': redisRevocations,
  'options redis RedisReplaysOptions': redisReplays,
}

/** What `packages/testing/README.md` shows as a call with `{ ... }`. */
export const TESTING_CALLS: Readonly<Record<string, (options: never) => unknown>> = {
  createTestIssuer,
  'issuer.token': async (options) => await (await createTestIssuer()).token(options),
  'issuer.badTokens': async (options) => await (await createTestIssuer()).badTokens(options),
  'issuer.edgeTokens': async (options) => await (await createTestIssuer()).edgeTokens(options),
  'issuer.rotate': async (options) => await (await createTestIssuer()).rotate(options),
  'issuer.outage': async (options) => (await createTestIssuer()).outage('hang', options),
  tokenService: async (options) => tokenService(await createTestIssuer(), options).fetch,
  'service.listen': async (options) => await tokenService(await createTestIssuer()).listen(options),
  introspectionService: async (options) => introspectionService(await createTestIssuer(), options),
  'opaque.issue': async (options) => introspectionService(await createTestIssuer()).issue(options),
  'opaque.badAnswers': async (options) =>
    await introspectionService(await createTestIssuer()).badAnswers(options),
  reportVerdicts: (options) => reportVerdicts(options),
  eventTransmitter: async (options) => eventTransmitter(await createTestIssuer(), options),
  dpopClient,
  stubVerifier: (options) => stubVerifier(options),
  assertChallenge: (options) => assertChallenge({ headers: {} }, options),
}

export function takenByDiscoverKeys(options: never): unknown {
  return discoverKeys(keyUrl, options)
}

const PLANTED = 'noSuchOption'

/** The options that something knows: it names them when it refuses one that it does not. */
export async function knownOptions(takes: (options: never) => unknown): Promise<readonly string[]> {
  const outcome = await Promise.resolve()
    .then(() => takes({ [PLANTED]: true } as never))
    .catch((error: unknown) => error)
  const message = outcome instanceof TypeError ? outcome.message : ''
  const [, names] = /\b(?:are|but|is) (\w+(?:, \w+)*)$/.exec(message) ?? []
  if (names === undefined || !message.includes(PLANTED)) {
    throw new Error(`an unknown option is not refused with the known ones: ${String(outcome)}`)
  }
  return names.split(', ')
}
