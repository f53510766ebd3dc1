import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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

import { adapters } from '../frameworks/contract/frameworks/index.ts'

/** A table of options in a README, and what takes them. */
export interface OptionTable {
  readonly readme: string
  readonly heading: string
  readonly takes: (options: never) => unknown
  /** The package and the interfaces that declare the options. What the first requires must be stated, nothing else. */
  readonly declared: readonly [name: string, ...interfaces: string[]]
  /** The same of another package whose options are taken as well. */
  readonly taken?: OptionTable['declared']
}

const keyUrl = 'https://auth.test/keys'
const guard = ['core', 'GuardOptions', 'PresentationOptions'] as const

export const OPTION_TABLES: readonly OptionTable[] = [
  {
    readme: 'packages/core/README.md',
    heading: 'Options',
    takes: createVerifier,
    declared: ['core', 'VerifierOptions', 'SchemaOptions'],
  },
  {
    readme: 'packages/core/KEYS.md',
    heading: 'Keys behind a URL',
    takes: (options) => remoteKeys(keyUrl, options),
    declared: ['core', 'RemoteKeysOptions'],
  },
  {
    readme: 'packages/core/MANY-ISSUERS.md',
    heading: 'Tenants that come and go',
    takes: (options) => byIssuer(() => undefined, options),
    declared: ['core', 'ByIssuerOptions'],
  },
  {
    readme: 'packages/core/BOUND-TOKENS.md',
    heading: 'DPoP proofs',
    takes: dpopProofs,
    declared: ['core', 'DpopProofsOptions'],
  },
  {
    readme: 'packages/core/MUTUAL-TLS.md',
    heading: 'Options',
    takes: mutualTls,
    declared: ['core', 'MutualTlsOptions'],
  },
  ...adapters.map(({ folder, takesOptions }) => ({
    readme: `packages/${folder}/README.md`,
    heading: 'Options',
    takes: takesOptions,
    declared: guard,
  })),
  {
    readme: 'packages/client/README.md',
    heading: 'Options',
    takes: createTokenClient,
    declared: ['client', 'TokenClientOptions'],
  },
  {
    readme: 'packages/introspection/README.md',
    heading: 'Options',
    takes: introspected,
    declared: ['introspection', 'IntrospectedOptions'],
    taken: ['core', 'VerifierOptions', 'SchemaOptions'],
  },
  {
    readme: 'packages/mcp/README.md',
    heading: 'Options',
    takes: (options) => expressEndpoint(stubVerifier(), options, () => undefined),
    declared: ['mcp', 'EndpointOptions'],
    taken: guard,
  },
  {
    readme: 'packages/client/OAUTH.md',
    heading: 'Options',
    takes: createOAuthClient,
    declared: ['client', 'OAuthClientOptions'],
  },
  {
    readme: 'packages/redis/README.md',
    heading: 'Options',
    takes: redisRevocations,
    declared: ['redis', 'RedisRevocationsOptions'],
  },
  {
    readme: 'packages/redis/REPLAYS.md',
    heading: 'Options',
    takes: redisReplays,
    declared: ['redis', 'RedisReplaysOptions'],
  },
]

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

/** How an interface declares an option. */
export interface Declaration {
  readonly isRequired: boolean
  /** The tag `@default` of its documentation. */
  readonly stated: string | undefined
}

/** @throws Error if the sources do not have all of the interfaces. */
export function declarationsOf([name, ...interfaces]: OptionTable['declared']): ReadonlyMap<
  string,
  Declaration
> {
  const root = fileURLToPath(new URL(`../../packages/${name}/src/`, import.meta.url))
  const sources = globSync('**/*.ts', { cwd: root }).map((path) =>
    readFileSync(root + path, 'utf8'),
  )
  return new Map(
    interfaces.flatMap((each, at) => {
      const found = sources.flatMap((source) => membersOf(source, each))
      if (found.length === 0) throw new Error(`packages/${name} has no interface ${each}`)
      return at === 0
        ? found
        : found.map(([member, { stated }]) => [member, { isRequired: false, stated }] as const)
    }),
  )
}

export function membersOf(
  source: string,
  name: string,
): readonly (readonly [string, Declaration])[] {
  const [, body = ''] =
    new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source) ?? []
  const members = body.matchAll(
    /(?:^ {2}\/\*\*((?:(?!\*\/).)*)\*\/\n)?^ {2}(?:readonly )?(\w+)(\??):/gms,
  )
  return [...members].map(([, comment = '', member = '', mark]) => {
    const [, stated] = /@default (.*?)(?=\n\s*\*\s*@|$(?![^]))/s.exec(comment) ?? []
    return [
      member,
      { isRequired: mark === '', stated: stated?.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim() },
    ]
  })
}

/** A default in one form: what a document says in code, or the number that it begins with. */
export function valueOf(text: string): string | undefined {
  const [, code] = /^`([^`]+)`/.exec(text) ?? []
  const [number] = /^\d[\d,_]*/.exec(text) ?? []
  return code ?? number?.replaceAll(/[,_]/g, '')
}
