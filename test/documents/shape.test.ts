import { existsSync, globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, matchesGlob } from 'node:path'

import * as providers from '@portcullis/providers'
import { describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { documentsOf } from '../../docs/pages.ts'
import { wordsOf } from '../../docs/parts.ts'
import { LEFT_OUT } from '../../docs/sections.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { AUDIENCE, ISSUER } from './identity-provider.ts'
import { blocksOf, linesForTokenService, tableUnder } from './markdown.ts'

// What documents have in common: who knows one finds everything in the others. And which test runs the code of each.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = documentsOf().filter(
  (path) => !LEFT_OUT.some(([paths]) => matchesGlob(path, paths)),
)
const codeOf = (path: string, ...languages: readonly string[]) =>
  blocksOf(read(path)).filter(({ language }) => languages.includes(language))

/** The languages of the pieces of code of each document, in their order, and the tests that run them or compare them. `-`: not run. */
const CODE = `
CONTRIBUTING.md                | sh text                | documents/names
README.md                      | sh sh sh ts ts         | documents/shape documents/examples
RELEASING.md                   | sh sh sh sh sh sh sh sh sh sh sh sh sh | documents/names publishing/release/repository -
docs/tour.md                   | sh                     | documents/names
examples/README.md             | sh                     | documents/names
packages/cli/README.md         | sh sh text             | packages/cli/test/readme
packages/cli/SERVE.md          | sh ts                  | packages/cli/test/readme documents/guides
packages/client/OAUTH.md       | ts ts ts ts            | documents/oauth-guide
packages/client/README.md      | sh ts ts ts ts ts      | documents/shape documents/guides packages/client/test/recipes
packages/core/BOUND-TOKENS.md  | ts                     | documents/examples
packages/core/COOKIES.md       | ts ts                  | documents/examples
packages/core/FRAMEWORKS.md    | ts sh json ts sh       | documents/examples frameworks/apps/apps -
packages/core/GUARDS.md        | js js js text ts ts ts sh | frameworks/apps/apps frameworks/contract/debug-lines documents/examples
packages/core/LOGGING-IN-AGAIN.md | ts ts               | documents/examples
packages/core/MANY-ISSUERS.md  | ts ts                  | documents/guides
packages/core/MUTUAL-TLS.md    | ts text text text      | documents/guides -
packages/core/OPAQUE-TOKENS.md | ts ts ts               | documents/examples documents/guides
packages/core/OPERATING.md     | ts ts ts               | documents/shape
packages/core/README.md        | sh ts ts sh ts         | documents/shape documents/examples documents/guides
packages/core/REVOKING.md      | ts ts ts ts            | documents/examples documents/guides
packages/events/README.md      | sh ts ts ts            | documents/shape documents/events
packages/express/MIGRATING.md  | js diff diff diff diff | migration/guides
packages/{koa,hono,fastify}/MIGRATING.md | diff         | migration/guides
packages/{express,fastify,nest}/README.md | sh ts sh ts | documents/shape documents/first-screen frameworks/apps/apps
packages/hono/README.md        | sh ts sh js js         | documents/shape documents/first-screen frameworks/apps/apps
packages/koa/README.md         | sh ts sh js ts         | documents/shape documents/first-screen frameworks/apps/apps
packages/fastify/PLUGINS.md    | js                     | documents/examples
packages/introspection/README.md | sh ts                | documents/shape documents/examples
packages/mcp/README.md         | sh ts sh ts ts         | documents/shape documents/mcp
packages/mcp/{SESSIONS,TOKENS}.md | ts                  | documents/mcp
packages/metrics/README.md     | sh ts sh ts            | documents/shape documents/metrics
packages/nest/RECIPES.md       | ts ts ts ts            | packages/nest/test/testing-module frameworks/apps/apps frameworks/nest11/gateway
packages/providers/README.md   | sh ts                  | documents/shape documents/examples
packages/providers/docs/entra.md | ts json ts ts ts     | documents/examples mcp/providers
packages/providers/docs/keycloak.md | ts ts json ts ts  | documents/examples mcp/providers
packages/providers/docs/{auth0,cognito}.md | ts json ts ts | documents/examples mcp/providers
packages/providers/ENTRA-TENANTS.md | ts ts            | documents/examples
packages/providers/docs/*.md   | ts json ts             | documents/examples
packages/redis/README.md       | sh ts sh ts            | documents/shape simulation/redis/readme
packages/redis/REPLAYS.md      | ts                     | simulation/redis/readme
packages/testing/BOUND-TOKENS.md | ts                   | programs/runners
packages/testing/README.md     | sh ts ts sh json       | documents/shape programs/runners publishing/packed/jest
packages/testing/TESTING.md    | sh ts ts ts ts ts ts ts | documents/guides
test/{,bench/,hostile/{attacks,fuzz,mutation}/}README.md | sh | documents/names
`
const rows = CODE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))

test.each(documents)(
  'each piece of code of %s is run by a test, or the table says why not',
  (path) => {
    const [, languages = ''] = rows.find(([paths = '']) => matchesGlob(path, paths)) ?? []
    expect(
      blocksOf(read(path)).map(({ language }) => language || 'text'),
      'let a test run the new code, and name it in CODE',
    ).toEqual(languages === '' ? [] : languages.split(' '))
  },
)

const isThere = (name: string) =>
  ['', 'test/'].some((folder) =>
    ['.test.ts', '.ts'].some((ending) => existsSync(join(root, `${folder}${name}${ending}`))),
  )

test('the table has no document and no test that is gone', () => {
  const gone = rows.filter(([paths = '']) => !documents.some((path) => matchesGlob(path, paths)))
  expect(gone).toEqual([])
  const named = rows.flatMap(([, , tests = '']) => tests.split(' ')).filter((name) => name !== '-')
  expect(named.filter((name) => !isThere(name))).toEqual([])
})

test('the code of OPERATING.md is in a source of examples/operating, which a test runs', () => {
  const paths = globSync('examples/operating/src/*.ts', { cwd: root })
  const sources = paths.map(read)
  for (const { code } of codeOf('packages/core/OPERATING.md', 'ts'))
    expect(sources.some((source) => source.includes(code))).toBe(true)
})

test('blocks are found with and without a language, and within lists', () => {
  const text = 'a\n```ts\nb\n```\n\n1. c\n\n   ```sh\n   d\n   ```\n\n```\ne\n```\n'
  expect(blocksOf(text).map(({ language, code }) => [language, code])).toEqual([
    ['ts', 'b\n'],
    ['sh', '   d\n'],
    ['', 'e\n'],
  ])
})

/** What the box of code on the site shows at 1280 pixels without scrolling. */
const WIDTH = 80

test.each(documents)(
  '%s: its first example fits its box, its commands and tables are plain',
  (path) => {
    const [example] = codeOf(path, 'ts', 'js')
    const wide = example?.code.split('\n').filter((line) => line.length > WIDTH) ?? []
    expect(wide, 'put the comment above the line, or break it').toEqual([])
    // Interactive zsh, the shell of macOS, takes `#` and what follows for words of the command.
    const lines = codeOf(path, 'sh').flatMap(({ code }) => code.split('\n'))
    const isForContributors = /^(?:CONTRIBUTING|RELEASING|test\/.*)\.md$/.test(path)
    const comment = isForContributors ? /(?:^|\s)#.*[;`]/ : /(?:^|\s)#/
    expect(
      lines.filter((line) => comment.test(line)),
      'say it in the text above',
    ).toEqual([])
    const text = read(path).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    const aligned = text.split('\n').filter((line) => /^\|.*[^| ] {2,}\|/.test(line))
    expect(aligned, 'a new row is to change one line').toEqual([])
  },
)

const PROVIDERS = globSync('packages/providers/docs/*.md', { cwd: root })
const READMES = ['README.md', ...globSync('packages/*/README.md', { cwd: root })]

test.each<[path: string, least: number, most: number]>([
  ['CONTRIBUTING.md', 0, 699],
  ['README.md', 0, 849],
  ['packages/cli/README.md', 0, 760],
  ['packages/cli/SERVE.md', 0, 600],
  ['packages/metrics/README.md', 0, 760],
  ...adapters.map(({ folder }): [string, number, number] => [
    `packages/${folder}/README.md`,
    400,
    600,
  ]),
  ...PROVIDERS.map((path): [string, number, number] => [path, 150, 600]),
  ...READMES.map((path): [string, number, number] => [path, 0, 1650]),
])('%s has from %i to %i words by hand', (path, least, most) => {
  const { byHand } = wordsOf(read(path))
  expect(byHand, 'shorten it, or move a part of it to a guide').toBeLessThanOrEqual(most)
  expect(byHand).toBeGreaterThanOrEqual(least)
})

const headingsOf = (path: string) =>
  [
    ...read(path)
      .replaceAll(/^```.*?^```$/gms, '')
      .matchAll(/^## (.*)$/gm),
  ].map(([, name = '']) => name)
const headOf = (path: string) => read(path).split(/^(?=## )/m)[0] ?? ''
/** What comes from npm, of an example. */
const importedBy = (code: string) =>
  [...code.matchAll(/^import .*?from '((?:@[^/']+\/)?[^/']+)[^']*'$/gms)]
    .map(([, name = '']) => name)
    .filter((name) => !isBuiltin(name))

// A program has no example that imports it.
test.each(READMES.filter((path) => path !== 'packages/cli/README.md'))(
  '%s: right above the first example is how to install what it imports',
  (path) => {
    const [, commands = '', code = ''] =
      /```sh\n((?:npm install [^\n]*\n)+)```\n\n```ts\n(.*?)```/s.exec(read(path)) ?? []
    expect(code).toBe(codeOf(path, 'ts')[0]?.code)
    const all = path.startsWith('packages/testing/')
      ? codeOf(path, 'ts').map((each) => each.code)
      : [code]
    const imported = importedBy(all.join(''))
    expect(imported).not.toEqual([])
    expect(commands.split(/\s/)).toEqual(expect.arrayContaining(imported))
  },
)

test.each(READMES)('%s says what an AUTH_URL is', (path) => {
  const { code = '' } = codeOf(path, 'ts').find((each) => each.code.includes('AUTH_URL')) ?? {}
  expect(/AUTH_URL.*https:\/\/auth\.example\.com/.test(code)).toBe(code !== '')
})

test('README.md begins with commands for a clone and for npm alone, and says in ten rows what to do instead', () => {
  const [clone, alone] = codeOf('README.md', 'sh')
  expect(clone?.code).toBe('npx --yes pnpm@12 start\nnpx --yes pnpm@12 test\n')
  expect(alone?.code.match(/^npx @portcullis\/cli \w+/gm)).toHaveLength(3)
  const instead = tableUnder(read('README.md'), 'Does it fit?', 'You want').rows
  expect(instead).toHaveLength(10)
  expect(instead.filter(([, words = '']) => words === '')).toEqual([])
})

// A heading that is not listed is a topic of the package.
const BEFORE = ['What you get', 'Options', 'Why 401?']
const AFTER = ['Refusals', 'Errors', 'Tests', 'What it does not do']
/** The topics of packages with guards, in their order. */
const TOPICS = [
  'The module',
  'Behind the guard',
  'Typed claims',
  'Mounted applications',
  'Versions',
]
/** These verify no token of a caller, so there is no 401 to explain; and of guards GUARDS.md does. */
const WITHOUT_401 = new Set(['events', 'metrics', ...adapters.map(({ folder }) => folder)])

test.each(READMES.slice(1))('%s has its headings in the order that all packages have', (path) => {
  const headings = headingsOf(path)
  const [, folder = ''] = path.split('/')
  const present = (name: string) => headings.includes(name)
  const topics = headings.filter((name) => ![...BEFORE, ...AFTER].includes(name))
  expect(headings).toEqual([...BEFORE.filter(present), ...topics, ...AFTER.filter(present)])
  expect(present('Why 401?')).toBe(!WITHOUT_401.has(folder))
  expect(present('What it does not do')).toBe(true)
  const isAdapter = adapters.some((each) => each.folder === folder)
  expect(present('Options')).toBe(!isAdapter)
  // A first result is on one screen.
  expect(headOf(path).trimEnd().split('\n').length).toBeLessThanOrEqual(55)
  if (!isAdapter) return
  expect(topics).toEqual(TOPICS.filter((name) => topics.includes(name)))
  expect(headings).toEqual(expect.arrayContaining(['Behind the guard', 'Versions', 'Refusals']))
  // With a link, once the repository has an address.
  expect(read(path)).toMatch(/`GUARDS\.md`(?:\]\(https:[^)]+\))? of `@portcullis\/core`/)
})

const CALL = `curl -i -X POST -H "Authorization: Bearer $TOKEN" localhost:3000/v1/clientLocations`
/** What is between the blocks of a README. */
const TEXT = /[^`]*(?:`[^`\n]+`[^`]*)*?/.source

describe.each(adapters)('packages/$folder/README.md', ({ folder, frameworks: [newest] }) => {
  const path = `packages/${folder}/README.md`

  test('says how to try its example with a provider', () => {
    const [, code = '', named, called = ''] =
      new RegExp(
        `\`\`\`ts\n(.*?)\`\`\`\n\nSave it as \`(app\\.m[jt]s)\`${TEXT}\n\n\`\`\`sh\n(.*?)\`\`\``,
        's',
      ).exec(headOf(path)) ?? []
    expect(named).toBe(folder === 'nest' ? 'app.mts' : 'app.mjs')
    expect(code).toMatch(/scope\('locations:write'\)[^]*\b(?:listen\(|port: )3000\b/)
    expect(called.replace(/^.*\nnpx tsc app\.mts .*\n/, '')).toBe(`\
node app.mjs
${CALL}
echo "$TOKEN" | npx @portcullis/cli explain --discover ${ISSUER} --audience ${AUDIENCE}
`)
    expect(headOf(path)).toContain(
      `\`curl\` gets ${folder === 'nest' ? 201 : 200}, without the header 401, without the scope 403.`,
    )
  })

  test('or MUTUAL-TLS.md of core says where the options of TLS go', () => {
    const guide = read('packages/core/MUTUAL-TLS.md')
    const framework = newest?.name.split(' ')[0] ?? ' '
    const isInGuide =
      guide.includes(`from '@portcullis/${folder}'`) ||
      tableUnder(guide, 'Mutual TLS', 'Framework').rows.some(([name]) =>
        name?.startsWith(framework),
      )
    const sentence = 'With `mutualTls`, the options of TLS go to `'
    expect(isInGuide || read(path).includes(sentence), `say there: ${sentence}...\``).toBe(true)
  })
})

test('GUARDS.md says how to try it with a token service on this machine, how to read a refusal, and who exposes it', () => {
  const guide = read('packages/core/GUARDS.md')
  expect(linesForTokenService(guide)).toContain('remoteKeys(')
  expect(codeOf('packages/core/GUARDS.md', 'sh')[0]?.code).toBe(`\
npx @portcullis/cli serve --claim scope=locations:write
AUTH_URL=http://127.0.0.1:4010 node app.mjs
TOKEN=$(npx @portcullis/cli mint --claim sub=ada)
${CALL}
echo "$TOKEN" | npx @portcullis/cli explain --auth-url http://127.0.0.1:4010
`)
  const line = '401 invalid_token audience: aud is "shop"; expected "api"'
  expect(read('test/frameworks/contract/debug-lines.test.ts')).toContain(line)
  expect(guide).toContain(`refused: express GET /v1/places: ${line}`)
  // That the headers can be read then is tested in test/frameworks/drop-in.
  expect(guide).toContain("exposedHeaders: ['WWW-Authenticate', 'Retry-After']")
  expect(guide).toMatch(
    /`cors`, `@fastify\/cors` .* `exposedHeaders`, and Hono and `@koa\/cors` .* `exposeHeaders`/,
  )
})

test('each provider has a page, which the README leads to, and which leads to it', () => {
  const names = Object.keys(providers).map((name) =>
    name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  )
  const pages = names.map((name) => `docs/${name}.md`).toSorted()
  expect(PROVIDERS.map((path) => path.slice('packages/providers/'.length)).toSorted()).toEqual(
    pages,
  )
  const readme = read('packages/providers/README.md')
  const named = [...readme.matchAll(/`(docs\/[a-z\d-]+\.md)`/g)].map(([, name = '']) => name)
  expect(named.toSorted()).toEqual(pages)
  expect(readme).toContain('`authenticate(verifier)`')
  for (const path of PROVIDERS) expect(headOf(path)).toContain('`@portcullis/providers`')
})
