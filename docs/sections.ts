import { existsSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'

import { frameworkOf, GUARDING } from '../test/frameworks/packages.ts'
import { root } from './entries.ts'

// Where each document of the repository is on the site, and in which order. It is the one list: navigation, `llms.txt` and the
// search are made of it, and a test fails for a document that it does not have.

/** A document, what its address ends with, and what the navigation calls it, if that is not its title. */
type Row = readonly [path: string, name: string, label?: string]

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
  }).filter(([path]) => existsSync(join(root, path)))
}

/** Every document of a folder but its README, by its title. */
function inFolder(folder: string, addressOf: (name: string) => string): readonly Row[] {
  return globSync(`${folder}/!(README).md`, { cwd: root })
    .toSorted()
    .map((path) => [path, addressOf(basename(path, '.md'))])
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
      ['packages/core/GUARDS.md', 'guards'],
      ['packages/core/KEYS.md', 'keys', 'Keys and rotations'],
      ['packages/core/MANY-ISSUERS.md', 'many-issuers'],
      ['packages/core/REVOKING.md', 'revoking'],
      ['packages/events/README.md', 'events', 'Log-outs of a provider'],
      ['packages/events/SECURITY-EVENTS.md', 'security-events'],
      ['packages/events/STREAMS.md', 'streams'],
      ['packages/core/COOKIES.md', 'cookies'],
      ['packages/core/BOUND-TOKENS.md', 'bound-tokens'],
      ['packages/core/MUTUAL-TLS.md', 'mutual-tls'],
      ['packages/core/FAPI.md', 'fapi'],
      ['packages/core/LOGGING-IN-AGAIN.md', 'logging-in-again'],
      ['packages/core/OPAQUE-TOKENS.md', 'opaque-tokens'],
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
      ['packages/mcp/PROVIDERS.md', 'mcp-providers'],
      ['packages/core/FRAMEWORKS.md', 'any-other'],
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
      ...inFolder('packages/providers/docs', (name) => name),
      ['packages/providers/ENTRA-TENANTS.md', 'entra-tenants'],
      ...inFolder('packages/events/docs', (name) => `${name}-events`),
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
      ['packages/testing/BOUND-TOKENS.md', 'bound-tokens'],
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
      ['packages/cli/SERVE.md', 'serve'],
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
      ['packages/core/THREATS.md', 'threats'],
      ['test/hostile/attacks/README.md', 'attacks', 'Attacks that were tried'],
      ['test/conformance/README.md', 'conformance'],
      ['test/bench/README.md', 'measured', 'What was measured'],
    ],
  },
  {
    name: 'Contribute',
    folder: 'contribute',
    about: 'For people who change this repository.',
    rows: [
      ['CONTRIBUTING.md', 'contributing'],
      ['docs/tour.md', 'tour'],
      ['docs/identities.md', 'identities'],
      ['test/README.md', 'tests', 'Tests'],
      ['test/hostile/fuzz/README.md', 'fuzz'],
      ['test/hostile/mutation/README.md', 'mutation', 'Mutation'],
      ['test/simulation/soak/README.md', 'soak', 'Soak'],
      ['RELEASING.md', 'releasing'],
      ['docs/decisions/README.md', 'decisions'],
      ...inFolder('docs/decisions', (name) => `decision-${name.replace(/-.*/, '')}`),
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
