import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { BENCHES } from '../bench/benches.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { blocksOf } from './markdown.ts'

// Every piece of code in every document, with what runs it, or why nothing does. A new one fails here until it is in the table.

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const documents = globSync(
  [
    '*.md',
    '.github/*.md',
    'docs/*.md',
    'docs/decisions/*.md',
    'packages/*/*.md',
    'packages/providers/docs/*.md',
    'test/**/README.md',
  ],
  { cwd: root, exclude: (path) => /node_modules|CHANGELOG/.test(path) },
)
  // Made of the README beside it: test/documents/skills.test.ts compares them.
  .filter((path) => !path.endsWith('/SKILL.md'))

/** Of a block: its language, and the file that runs it or compares it with what runs. Or a reason, which names no file. */
type Row = readonly [language: string, where: string]

const INSTALL: Row = ['sh', 'test/documents/readme.test.ts']
const README = 'test/documents/readme.test.ts'
const FIRST_SCREEN = 'test/documents/first-screen.test.ts'
const APPS = 'test/frameworks/apps/apps.test.ts'
const EVENTS = 'test/documents/events.test.ts'
const MCP = 'test/documents/mcp.test.ts'
const METRICS = 'test/documents/metrics.test.ts'
const PROVIDERS = 'test/documents/providers.test.ts'
const GUIDES = 'test/documents/guides.test.ts'
const MIGRATION: Row = ['diff', 'test/documents/written.test.ts']
const DEBUG_LINE: Row = ['', 'test/frameworks/contract/debug-lines.test.ts']
/** Below, a test asks whether these scripts exist. */
const COMMANDS: Row = ['sh', 'test/documents/blocks.test.ts']
const OTHER_PROGRAMS = 'not run: settings of a proxy'
const PUBLISHES = 'not run: it changes versions, tags or the registry'

/** How the READMEs of all adapters begin. What follows is in an application of the framework. */
const BEGINNING: readonly Row[] = [INSTALL, ['ts', README], ['sh', FIRST_SCREEN]]

const OF_ADAPTERS: Readonly<Record<string, readonly Row[]>> = Object.fromEntries(
  adapters.map(({ folder }) => {
    const path = `packages/${folder}/README.md`
    const code = blocksOf(read(path)).slice(BEGINNING.length)
    const rows = code.filter(({ language }) => ['js', 'ts'].includes(language))
    return [path, [...BEGINNING, ...rows.map(({ language }): Row => [language, APPS])]]
  }),
)

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  ...OF_ADAPTERS,
  'CONTRIBUTING.md': [COMMANDS, ['', 'test/documents/contributing.test.ts']],
  'README.md': [['sh', README], ['sh', README], INSTALL, ['ts', README], ['ts', README]],
  'RELEASING.md': [
    COMMANDS,
    ...Array.from({ length: 7 }, (): Row => ['sh', PUBLISHES]),
    ['sh', 'test/publishing/release/repository.test.ts'],
    COMMANDS,
    ['sh', PUBLISHES],
    ['sh', PUBLISHES],
    COMMANDS,
  ],
  'docs/tour.md': [COMMANDS],
  'packages/cli/README.md': [
    ['sh', 'packages/cli/test/readme.test.ts'],
    ['sh', 'packages/cli/test/readme.test.ts'],
    ['', 'packages/cli/test/readme.test.ts'],
  ],
  'packages/cli/SERVE.md': [
    ['sh', 'packages/cli/test/readme.test.ts'],
    ['ts', README],
  ],
  'packages/client/README.md': [
    INSTALL,
    ['ts', README],
    ...Array.from({ length: 4 }, (): Row => ['ts', 'packages/client/test/recipes.test.ts']),
  ],
  'packages/core/BOUND-TOKENS.md': [['ts', GUIDES]],
  'packages/core/COOKIES.md': [
    ['ts', README],
    ['ts', README],
  ],
  'packages/core/FRAMEWORKS.md': [
    ['ts', GUIDES],
    ['sh', APPS],
    ['json', APPS],
    ['ts', APPS],
    ['sh', 'not run: it needs the program of Cloudflare'],
  ],
  'packages/core/GUARDS.md': [
    ['js', APPS],
    ['js', APPS],
    ['js', APPS],
    DEBUG_LINE,
    ['ts', README],
    ['ts', APPS],
    ['ts', README],
    ['sh', README],
  ],
  'packages/client/OAUTH.md': Array.from({ length: 4 }, (): Row => [
    'ts',
    'test/documents/oauth-guide.test.ts',
  ]),
  'packages/core/LOGGING-IN-AGAIN.md': [
    ['ts', GUIDES],
    ['ts', GUIDES],
  ],
  'packages/core/MANY-ISSUERS.md': [
    ['ts', GUIDES],
    ['ts', GUIDES],
  ],
  'packages/core/MUTUAL-TLS.md': [
    ['ts', GUIDES],
    ...Array.from({ length: 3 }, (): Row => ['', OTHER_PROGRAMS]),
  ],
  'packages/core/OPAQUE-TOKENS.md': [
    ['ts', GUIDES],
    ['ts', GUIDES],
    ['ts', GUIDES],
  ],
  'packages/core/OPERATING.md': Array.from({ length: 3 }, (): Row => [
    'ts',
    'test/documents/operating.test.ts',
  ]),
  'packages/core/README.md': [
    INSTALL,
    ['ts', README],
    ['ts', README],
    ['sh', README],
    ['ts', README],
  ],
  'packages/core/REVOKING.md': Array.from({ length: 4 }, (): Row => ['ts', GUIDES]),
  'packages/events/README.md': [INSTALL, ['ts', EVENTS], ['ts', EVENTS], ['ts', EVENTS]],
  'packages/express/MIGRATING.md': [
    ['js', 'test/migration/guides.test.ts'],
    ...Array.from({ length: 4 }, () => MIGRATION),
  ],
  'packages/fastify/MIGRATING.md': [MIGRATION],
  'packages/fastify/PLUGINS.md': [['js', README]],
  'packages/hono/MIGRATING.md': [MIGRATION],
  'packages/koa/MIGRATING.md': [MIGRATION],
  'packages/nest/RECIPES.md': [
    ['ts', 'packages/nest/test/testing-module.test.ts'],
    ['ts', APPS],
    ['ts', 'packages/nest/test/testing-module.test.ts'],
  ],
  'packages/mcp/README.md': [INSTALL, ['ts', MCP], ['sh', MCP], ['ts', MCP], ['ts', MCP]],
  'packages/mcp/SESSIONS.md': [['ts', MCP]],
  'packages/mcp/TOKENS.md': [['ts', MCP]],
  'packages/introspection/README.md': [INSTALL, ['ts', 'test/documents/introspection.test.ts']],
  'packages/metrics/README.md': [INSTALL, ['ts', METRICS], ['sh', METRICS], ['ts', METRICS]],
  'packages/providers/README.md': [INSTALL, ['ts', PROVIDERS]],
  ...Object.fromEntries(
    globSync('packages/providers/docs/*.md', { cwd: root }).map((path) => [
      path,
      ['ts', 'json', 'ts'].map((language): Row => [language, PROVIDERS]),
    ]),
  ),
  'packages/providers/docs/entra.md': ['ts', 'json', 'ts', 'ts'].map((language): Row => [
    language,
    PROVIDERS,
  ]),
  'packages/redis/REPLAYS.md': [['ts', 'test/simulation/redis/readme.test.ts']],
  'packages/redis/README.md': [
    INSTALL,
    ['ts', 'test/simulation/redis/readme.test.ts'],
    ['sh', 'test/simulation/redis/readme.test.ts'],
    ['ts', 'test/simulation/redis/readme.test.ts'],
  ],
  'packages/testing/BOUND-TOKENS.md': [['ts', 'test/programs/runners.test.ts']],
  'packages/testing/README.md': [
    INSTALL,
    ['ts', 'test/programs/runners.test.ts'],
    ['ts', 'test/programs/runners.test.ts'],
    ['sh', 'test/publishing/packed/jest.ts'],
    ['json', 'test/publishing/packed/jest.ts'],
  ],
  'packages/testing/TESTING.md': [
    ['sh', GUIDES],
    ...Array.from({ length: 7 }, (): Row => ['ts', GUIDES]),
  ],
  'test/README.md': [COMMANDS],
  'test/hostile/attacks/README.md': [COMMANDS],
  'test/bench/README.md': [COMMANDS],
  'test/hostile/fuzz/README.md': [COMMANDS],
  'test/hostile/mutation/README.md': [COMMANDS],
}

test.each(documents)(
  '%s: each piece of code is run by a test, or there is a reason why not',
  (path) => {
    expect(
      (ROWS[path] ?? []).map(([language]) => language),
      `let a test run the new code, and say in ROWS of test/documents/blocks.test.ts which: a row for each piece, in their order`,
    ).toEqual(blocksOf(read(path)).map(({ language }) => language))
  },
)

test('the table has no document that is gone, and no test that is gone', () => {
  expect(Object.keys(ROWS).filter((path) => !documents.includes(path))).toEqual([])
  const places = Object.values(ROWS).flatMap((rows) => rows.map(([, where]) => where))
  const files = new Set(places.filter((where) => !where.startsWith('not run: ')))
  expect([...files].filter((path) => !existsSync(join(root, path)))).toEqual([])
})

/** What the box of code on the site shows at 1280 pixels without scrolling. */
const WIDTH = 80

test.each(documents)('%s: the first example fits its box', (path) => {
  const example = blocksOf(read(path)).find(({ language }) => ['ts', 'js'].includes(language))
  const wide = example?.code.split('\n').filter((line) => line.length > WIDTH) ?? []
  expect(wide, 'put the comment above the line, or break it').toEqual([])
})

// Interactive zsh, the shell of macOS, takes `#` and what follows for words of the command.
test.each([...documents, 'examples/README.md'])(
  '%s: what is pasted into a shell has no comment that could run or spoil the command',
  (path) => {
    const lines = blocksOf(read(path)).flatMap(({ language, code }) =>
      language === 'sh' ? code.split('\n') : [],
    )
    const comments = lines.filter((line) => /(?:^|\s)#/.test(line))
    const isForContributors = /^(?:CONTRIBUTING|RELEASING|test\/.*)\.md$/.test(path)
    expect(
      comments.filter((line) => !isForContributors || /#.*[;`]/.test(line)),
      'say it in the text above',
    ).toEqual([])
  },
)

test('blocks are found with and without a language, and within lists', () => {
  const text = 'a\n```ts\nb\n```\n\n1. c\n\n   ```sh\n   d\n   ```\n\n```\ne\n```\n'
  expect(blocksOf(text)).toEqual([
    { language: 'ts', code: 'b\n' },
    { language: 'sh', code: '   d\n' },
    { language: '', code: 'e\n' },
  ])
})

describe('the commands of this repository', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  /** Of pnpm itself, and a program that is installed. */
  const OTHERS = new Set(['changeset', 'exec', 'install', '-r', '--filter'])

  test.each(documents)('the benches that %s names are there', (path) => {
    const named = [...read(path).matchAll(/(?:pnpm(?:@12)? |`)bench ([a-z][\w-]*)/g)]
    expect(named.map(([, name = '']) => name).filter((name) => !(name in BENCHES))).toEqual([])
  })

  test.each(documents)('that %s names are scripts', (path) => {
    const named = [...read(path).matchAll(/pnpm@12 (?:run )?([\w:-]+)/g)].map(
      ([, name = '']) => name,
    )
    expect(named.filter((name) => !(name in scripts) && !OTHERS.has(name))).toEqual([])
  })
})
