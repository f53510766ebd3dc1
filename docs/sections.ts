import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { frameworkOf, GUARDING } from '../test/frameworks/packages.ts'

// Where each document of the repository is on the site, and in which order. It is the one list: navigation, `llms.txt` and the
// search are made of it, and a test fails for a document that it does not have.

/** A document, what its address ends with, and what the navigation calls it. */
type Row = readonly [path: string, name: string, label: string]

export interface Section {
  readonly name: string
  /** What its addresses begin with. */
  readonly folder: string
  /** One sentence, for its page and for `llms.txt`. */
  readonly about: string
  readonly rows: readonly Row[]
}

/** One document of every package that guards the routes of a framework and has it. */
function ofEveryGuard(
  document: string,
  row: (folder: string, framework: string) => readonly [name: string, label: string],
): readonly Row[] {
  return GUARDING.map((folder): Row => {
    const [name, label] = row(folder, frameworkOf(folder))
    return [`packages/${folder}/${document}`, name, label]
  }).filter(([path]) => existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url))))
}

/** Of these documents more pages are made: of errors, of messages, of programs, and of what the packages export. */
export const ERRORS = 'packages/core/ERRORS.md'
export const MISTAKES = 'packages/core/MISTAKES.md'
export const EXAMPLES = 'examples/README.md'
export const REFERENCE = 'reference'

export const SECTIONS: readonly Section[] = [
  {
    name: 'Start',
    folder: 'start',
    about: 'What Portcullis is, the first request that is let through, and examples to begin from.',
    rows: [
      ['README.md', 'overview', 'Overview'],
      [EXAMPLES, 'examples', 'Examples by need'],
      ['packages/core/README.md', 'core', 'The verifier'],
      ['packages/core/UPGRADING.md', 'upgrading', 'Upgrading from a candidate'],
    ],
  },
  {
    name: 'Guides',
    folder: 'guides',
    about:
      'How to do one thing: follow keys, accept many issuers, end tokens early, call other APIs.',
    rows: [
      ['packages/core/GUARDS.md', 'guards', 'Guards'],
      ['packages/core/KEYS.md', 'keys', 'Keys and rotations'],
      ['packages/core/MANY-ISSUERS.md', 'many-issuers', 'Many issuers'],
      ['packages/core/REVOKING.md', 'revoking', 'Revoking tokens'],
      ['packages/events/README.md', 'events', 'Log-outs of a provider'],
      ['packages/events/SECURITY-EVENTS.md', 'security-events', 'Security events'],
      ['packages/events/STREAMS.md', 'streams', 'Streams of a transmitter'],
      ['packages/core/COOKIES.md', 'cookies', 'Tokens in a cookie'],
      ['packages/core/BOUND-TOKENS.md', 'bound-tokens', 'Bound tokens'],
      ['packages/core/MUTUAL-TLS.md', 'mutual-tls', 'Mutual TLS'],
      ['packages/core/FAPI.md', 'fapi', 'FAPI 2.0'],
      ['packages/core/LOGGING-IN-AGAIN.md', 'logging-in-again', 'Logging in again'],
      ['packages/core/OPAQUE-TOKENS.md', 'opaque-tokens', 'Opaque tokens'],
      ['packages/introspection/README.md', 'introspection', 'Introspection'],
      ['packages/client/README.md', 'client', 'Calling a guarded API'],
      ['packages/client/OAUTH.md', 'oauth', 'Calling with OAuth 2.0'],
    ],
  },
  {
    name: 'Frameworks',
    folder: 'frameworks',
    about: 'Guards for each framework, and how to move to them from another package.',
    rows: [
      ...ofEveryGuard('README.md', (folder, framework) => [folder, framework]),
      ['packages/fastify/PLUGINS.md', 'fastify-plugins', 'Fastify: plugins'],
      ['packages/nest/RECIPES.md', 'nest-recipes', 'Nest: recipes'],
      ['packages/mcp/README.md', 'mcp', 'Servers of MCP'],
      ['packages/mcp/SESSIONS.md', 'mcp-sessions', 'Sessions of MCP'],
      ['packages/mcp/TOKENS.md', 'mcp-tokens', 'Tokens for MCP'],
      ['packages/mcp/PROVIDERS.md', 'mcp-providers', 'Providers for MCP'],
      ['packages/core/FRAMEWORKS.md', 'any-other', 'Any other framework'],
      ...ofEveryGuard('MIGRATING.md', (folder, framework) => [
        `to-${folder}`,
        `Moving to it: ${framework}`,
      ]),
    ],
  },
  {
    name: 'Providers',
    folder: 'providers',
    about:
      'What to set up at each identity provider, what its tokens look like, and what goes wrong.',
    rows: [
      ['packages/providers/README.md', 'options', 'Options for each provider'],
      ['packages/providers/docs/access-tokens.md', 'access-tokens', 'Which token it is'],
      ['packages/providers/docs/auth0.md', 'auth0', 'Auth0'],
      ['packages/providers/docs/clerk.md', 'clerk', 'Clerk'],
      ['packages/providers/docs/cloudflare-access.md', 'cloudflare-access', 'Cloudflare Access'],
      ['packages/providers/docs/cognito.md', 'cognito', 'Cognito'],
      ['packages/providers/docs/entra.md', 'entra', 'Entra ID'],
      ['packages/providers/ENTRA-TENANTS.md', 'entra-tenants', 'Entra: many tenants'],
      ['packages/providers/docs/firebase.md', 'firebase', 'Firebase'],
      ['packages/providers/docs/github-actions.md', 'github-actions', 'GitHub Actions'],
      ['packages/providers/docs/gitlab.md', 'gitlab', 'GitLab'],
      ['packages/providers/docs/google.md', 'google', 'Google'],
      ['packages/providers/docs/iap.md', 'iap', 'Identity-Aware Proxy'],
      ['packages/providers/docs/keycloak.md', 'keycloak', 'Keycloak'],
      ['packages/providers/docs/kubernetes.md', 'kubernetes', 'Kubernetes'],
      ['packages/providers/docs/spiffe.md', 'spiffe', 'SPIFFE'],
      ['packages/providers/docs/logto.md', 'logto', 'Logto'],
      ['packages/providers/docs/okta.md', 'okta', 'Okta'],
      ['packages/providers/docs/supabase.md', 'supabase', 'Supabase'],
      ['packages/providers/docs/zitadel.md', 'zitadel', 'Zitadel'],
      [
        'packages/providers/docs/token-service-at.md',
        'token-service-at',
        'A token service of your own',
      ],
      ['packages/events/docs/apple.md', 'apple-events', 'Events of Apple'],
      ['packages/events/docs/entra.md', 'entra-events', 'Events of Entra ID'],
      ['packages/events/docs/google.md', 'google-events', 'Events of Google'],
      ['packages/events/docs/keycloak.md', 'keycloak-events', 'Events of Keycloak'],
      ['packages/events/docs/okta.md', 'okta-events', 'Events of Okta'],
    ],
  },
  {
    name: 'Testing',
    folder: 'testing',
    about:
      'Tests of your own routes: a stub, real signatures, a whole token service, time that you set.',
    rows: [
      ['packages/testing/README.md', 'testing', 'Tokens for tests'],
      ['packages/testing/TESTING.md', 'what-to-test', 'What to test'],
      ['packages/testing/BOUND-TOKENS.md', 'bound-tokens', 'Bound tokens in tests'],
    ],
  },
  {
    name: 'Operating',
    folder: 'operating',
    about: 'What to watch, what to do when it is down, and what many processes share.',
    rows: [
      ['packages/core/OPERATING.md', 'operating', 'In production'],
      ['packages/metrics/README.md', 'metrics', 'Metrics and probes'],
      ['packages/redis/README.md', 'redis', 'Revocations in Redis'],
      ['packages/redis/OPERATING.md', 'redis-operating', 'Operating Redis'],
      ['packages/redis/REPLAYS.md', 'replays', 'Used proofs in Redis'],
    ],
  },
  {
    name: 'Command line',
    folder: 'command-line',
    about: 'The program that says why a token is refused, and that serves, mints and measures.',
    rows: [
      ['packages/cli/README.md', 'portcullis', 'The program portcullis'],
      ['packages/cli/SERVE.md', 'serve', 'A token service on your machine'],
    ],
  },
  {
    name: 'Reference',
    folder: REFERENCE,
    about: 'Every error with what to do, and everything that the packages export.',
    rows: [
      [ERRORS, '../errors/index', 'Errors'],
      [MISTAKES, '../errors/messages/index', 'Mistakes'],
    ],
  },
  {
    name: 'Why and security',
    folder: 'security',
    about:
      'What is promised, which attacks were tried, and what was measured beside other packages.',
    rows: [
      ['SECURITY.md', 'promises', 'What is promised'],
      ['packages/providers/REFUSED.md', 'refused', 'Refused on purpose'],
      ['packages/core/THREATS.md', 'threats', 'Threat model'],
      ['test/hostile/attacks/README.md', 'attacks', 'Attacks that were tried'],
      ['test/conformance/README.md', 'conformance', 'Suites of others'],
      ['test/bench/README.md', 'measured', 'What was measured'],
    ],
  },
  {
    name: 'Contribute',
    folder: 'contribute',
    about: 'For people who change this repository.',
    rows: [
      ['CONTRIBUTING.md', 'contributing', 'Contributing'],
      ['docs/tour.md', 'tour', 'A tour of the code'],
      ['docs/identities.md', 'identities', 'Identities'],
      ['test/README.md', 'tests', 'Tests'],
      ['test/hostile/fuzz/README.md', 'fuzz', 'Fuzzing'],
      ['test/hostile/mutation/README.md', 'mutation', 'Mutation'],
      ['test/simulation/soak/README.md', 'soak', 'Soak'],
      ['RELEASING.md', 'releasing', 'Releasing'],
      ['docs/decisions/README.md', 'decisions', 'Decisions'],
      ['docs/decisions/01-node-crypto.md', 'decision-01', '1. node:crypto'],
      ['docs/decisions/02-thread-pool.md', 'decision-02', '2. The thread pool'],
      ['docs/decisions/03-retired-keys.md', 'decision-03', '3. Retired keys'],
      ['docs/decisions/04-overlap.md', 'decision-04', '4. Overlap'],
      ['docs/decisions/05-no-shared-key-cache.md', 'decision-05', '5. No shared key cache'],
      ['docs/decisions/06-private-fields.md', 'decision-06', '6. Private fields'],
      ['docs/decisions/07-client-imports-the-kit.md', 'decision-07', '7. The client alone'],
      ['docs/decisions/08-by-issuer.md', 'decision-08', '8. byIssuer'],
      ['docs/decisions/09-one-stream.md', 'decision-09', '9. One stream'],
      ['docs/decisions/10-exact-dependencies.md', 'decision-10', '10. Exact dependencies'],
      ['docs/decisions/11-public-surface.md', 'decision-11', '11. Public surface'],
      ['docs/decisions/12-jose-beside-ours.md', 'decision-12', '12. jose beside our guard'],
      ['docs/decisions/13-site.md', 'decision-13', '13. The site'],
    ],
  },
]

/** Markdown that is on no page, and why. */
export const LEFT_OUT: readonly (readonly [paths: string, reason: string])[] = [
  ['.changeset/**', 'news of the next release, until it is in a CHANGELOG'],
  ['.github/**', 'for the place where the sources are'],
  ['docs/api/**', 'compared in reviews; the reference says the same to people'],
  ['packages/*/CHANGELOG.md', 'made at a release, and read beside the package'],
  ['packages/*/SKILL.md', 'made of the READMEs and of GUARDS.md'],
]
