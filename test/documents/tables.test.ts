import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { createTokenClient } from '@portcullis/client'
import { createOAuthClient } from '@portcullis/client/oauth'
import {
  authErrorReasons,
  byIssuer,
  createVerifier,
  discoverKeys,
  dpopProofs,
  mutualTls,
  remoteKeys,
} from '@portcullis/core'
import { pollEvents, receiveEvents, receiveLogout } from '@portcullis/events'
import { introspected } from '@portcullis/introspection'
import { expressEndpoint } from '@portcullis/mcp'
import { redisReplays, redisRevocations } from '@portcullis/redis'
import * as testing from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { messagesIn, mistakesIn, mistakesOf } from '../../docs/mistakes.ts'
import { declarationsOf, membersOf, tableOfOptions, tableOfOwnOptions } from '../../docs/options.ts'
import { documentsOf } from '../../docs/pages.ts'
import { partsOf } from '../../docs/parts.ts'
import { ALGORITHMS } from '../../packages/core/src/algorithms/algorithms.ts'
import { refusals } from '../../packages/core/src/refusal/refusals.ts'
import { FRAMEWORKS } from '../../packages/metrics/src/words.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { codeSpans, tablesOf, tableUnder } from './markdown.ts'

// Tables are written from declarations and from comments: here, that the code does what these say.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const readAll = (pattern: string) => globSync(pattern, { cwd: root }).map(read)

type Takes = (options: never) => unknown
const { createTestIssuer, tokenService, introspectionService, stubVerifier } = testing
const keyUrl = 'https://auth.test/keys'

/** What takes the options of each interface, by the words of the part of a document that is written. */
const OPTIONS: Readonly<Record<string, readonly Takes[]>> = {
  'core VerifierOptions SchemaOptions': [createVerifier],
  'core RemoteKeysOptions': [
    (options) => remoteKeys(keyUrl, options),
    (options) => discoverKeys(keyUrl, options),
  ],
  'core ByIssuerOptions': [(options) => byIssuer(() => undefined, options)],
  'core DpopProofsOptions': [dpopProofs],
  'core MutualTlsOptions': [mutualTls],
  'core GuardOptions': adapters.map(({ takesOptions }) => takesOptions),
  'client TokenClientOptions': [createTokenClient],
  'client OAuthClientOptions': [createOAuthClient],
  'introspection IntrospectedOptions SchemaOptions': [introspected],
  'mcp EndpointOptions': [(options) => expressEndpoint(stubVerifier(), options, () => undefined)],
  'redis RedisRevocationsOptions': [redisRevocations],
  'redis RedisReplaysOptions': [redisReplays],
  'events LogoutOptions': [receiveLogout],
  'events ReceiveEventsOptions': [receiveEvents],
  'events PollEventsOptions': [pollEvents],
}

/** What `packages/testing/README.md` shows as a call with `{ ... }`. */
const CALLS: Readonly<Record<string, Takes>> = {
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
  reportVerdicts: (options) => testing.reportVerdicts(options),
  eventTransmitter: async (options) => testing.eventTransmitter(await createTestIssuer(), options),
  dpopClient: testing.dpopClient,
  stubVerifier: (options) => stubVerifier(options),
  assertChallenge: (options) => testing.assertChallenge({ headers: {} }, options),
}

const PLANTED = 'noSuchOption'

/** The options that something knows: it names them when it refuses one that it does not. */
async function knownOptions(takes: Takes): Promise<readonly string[]> {
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

const namesOf = (words: string) => {
  const [name = '', ...interfaces] = words.split(' ')
  return [...declarationsOf(name, ...interfaces).keys()].toSorted()
}
const written = new Set(documentsOf().flatMap((path) => partsOf(read(path))))

test.each(
  Object.entries(OPTIONS).flatMap(([words, all]) => all.map((takes) => [words, takes] as const)),
)('the table of %s has each option that the code knows, and no other: %#', async (words, takes) => {
  const known = (await knownOptions(takes)).filter(
    (name) => name !== 'verifier' || words !== 'core GuardOptions',
  )
  expect(namesOf(words)).toEqual(known.toSorted())
})

test('each table of options in a document is one of these, and each of these is in a document', () => {
  const interfaces = [...written]
    .filter((part) => /^(?:own-)?options /.test(part))
    .map((part) => part.replace(/^own-options (\w+ \w+).*/, '$1').replace(/^options /, ''))
  // What others extend.
  const shared = new Set(['events EventOptions', 'events SecurityEventOptions'])
  expect(new Set(interfaces.filter((words) => !shared.has(words)))).toEqual(
    new Set(Object.keys(OPTIONS)),
  )
})

test('what takes any option is found', async () => {
  await expect(knownOptions(() => 'done')).rejects.toThrow('an unknown option is not refused')
})

const calls = new Map(
  tableUnder(read('packages/testing/README.md'), 'What you get', 'Call')
    .rows.flatMap(([cell = '']) => codeSpans(cell))
    .flatMap((call) => {
      const [, name = '', options] = /^([\w.]+)\((?:\w+, )?\{ (.*) \}\)$/.exec(call) ?? []
      return options === undefined ? [] : [[name, options.split(', ')] as const]
    }),
)

test.each([...new Set([...calls.keys(), ...Object.keys(CALLS)])])(
  'packages/testing/README.md shows the options of %s',
  async (name) => {
    expect(calls.get(name)).toEqual(await knownOptions(CALLS[name] ?? (() => 'not in CALLS')))
  },
)

/** What the code names, or leaves to a function of another package, instead of a value beside the option. */
const NAMED = new Set(['property', 'respond', 'clientAuthentication', 'stream', 'type'])
const literal = /^(?:\d[\d_]*|true|'[^']*'|\{.*\})/
const defaults = [...written]
  .filter((part) => part.startsWith('options ') || part.startsWith('own-options '))
  .flatMap((part) => {
    const [, name = '', ...interfaces] = part.split(' ')
    return [...declarationsOf(name, ...interfaces)].flatMap(([option, { stated = '' }]) => {
      const [value] = literal.exec(stated) ?? []
      return value === undefined || NAMED.has(option) ? [] : [[name, option, value] as const]
    })
  })

test.each(defaults)('%s: %s is %s by default, as its comment says', (name, option, value) => {
  const sources = readAll(`packages/{${name},core}/src/**/*.ts`)
    .join('\n')
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
    .replaceAll(/(?<=\d)_(?=\d)/g, '')
  const pairs = value.startsWith('{')
    ? [...value.matchAll(/(\w+): ([\w']+)/g)].map(
        ([, member = '', of = '']) => [member, of] as const,
      )
    : [[option, value] as const]
  for (const [member, of] of pairs) {
    const code = of.replaceAll(/(?<=\d)_(?=\d)/g, '')
    expect(sources).toMatch(
      new RegExp(
        `\\b${member}(?:: \\w+)?(?: =| \\?\\?${pairs.length > 1 || value.startsWith('{') ? '|:' : ''}) ${code}(?!\\w)`,
      ),
    )
  }
})

describe('a declaration', () => {
  const source = `export interface Options<T> extends Pick<
  Others<T>,
  'shared' | 'property'
> {
  needed: string
  /**
   * How long. Seconds.
   * @default 300, or what
   *   a header says
   * @see RFC 9111
   */
  maxAge?: number | undefined
  /** @default 'auth' */
  property?: string
}

export interface Others<T> {
  /** Of both. */
  readonly shared?: T
  /** Another. */
  property?: string
  /** Not picked. */
  left?: string
}`

  test('says what its documentation says, and what it inherits follows', () => {
    const none = { isRequired: false, stated: undefined, meaning: '' }
    expect([...membersOf([source], 'Options')]).toEqual([
      ['needed', { ...none, isRequired: true }],
      ['maxAge', { ...none, stated: '300, or what a header says', meaning: 'How long. Seconds.' }],
      ['property', { ...none, stated: "'auth'" }],
      ['shared', { ...none, meaning: 'Of both.' }],
    ])
    expect(() => membersOf([source], 'Missing')).toThrow('there is no interface Missing')
  })

  test('is a row of the table: what is required, a value as code, words as they are', () => {
    const table = tableOfOptions('core', 'VerifierOptions', 'SchemaOptions')
    expect(table).toMatch(/^\| `issuer` \| required \| The accepted values of `iss`/m)
    expect(table).toMatch(/^\| `requireExpiry` \| `true` \| /m)
    expect(table).toMatch(/^\| `algorithms` \| what keys state \| /m)
    // Only what the first interface requires has to be stated.
    expect(table).toMatch(/^\| `schema` \| none \| /m)
    const own = tableOfOwnOptions('events', 'LogoutOptions', 'EventOptions')
    expect(own.match(/^\| `\w+`/gm)?.join('')).toBe(
      '| `clientId`| `type`| `requireExpiry`| `maxTokenAge`',
    )
  })
})

// `testing` and the programs say theirs to the person who has just written the call or the command. Guides of core name no provider.
const MESSAGES = globSync('packages/!(cli|providers|testing)/src/**/*.ts', { cwd: root })
  .filter((path) => !path.startsWith('packages/redis/src/program'))
  .flatMap((path) => messagesIn(read(path)).map((text) => ({ path, text })))
  // Decorators that contradict each other are named there. No key has another kind, and WebCrypto makes pairs for these algorithms.
  .filter(({ text }) => !['…', 'unknown kind of key: …', 'not a key pair'].includes(text))

/** Whether a message is that of a row, which may leave out its end. In a row `…:` is the name of any function. */
function begins(text: string, row: string): boolean {
  return (row.startsWith('…: ') ? text.replace(/^[^\s:]+: /, '…: ') : text).startsWith(row)
}

describe('MISTAKES.md', () => {
  const mistakes = read('packages/core/MISTAKES.md')
  const rows = tablesOf(mistakes)
    .filter(({ columns: [first] }) => first === 'Message')
    .flatMap((table) => table.rows)
  const messages = rows.map(([cell = '']) => codeSpans(cell)[0] ?? '')

  test.each(MESSAGES)('$text ($path) has a row', ({ text }) => {
    expect(
      messages.filter((message) => begins(text, message)),
      'write // Mistake `MESSAGE`: what to write instead, above the check, then `pnpm write`',
    ).not.toEqual([])
  })

  test.each(messages)('%s is what a source says', (message) => {
    expect(MESSAGES.some(({ text }) => begins(text, message))).toBe(true)
  })

  test('each has a place of its own, where its advice is written that stands above a check that says so', () => {
    const places = rows.map(([cell = '']) => /^<a id="(error-[a-z\d-]+)"><\/a>/.exec(cell)?.[1])
    expect(places).not.toContain(undefined)
    expect(new Set(places).size).toBe(places.length)
    const beside = mistakesOf()
    expect(beside.length).toBeGreaterThan(90)
    expect(beside.filter(({ id }) => !places.includes(id))).toEqual([])
    const far = beside.filter(
      ({ path, message }) => !messagesIn(read(path)).some((said) => begins(said, message)),
    )
    expect(far).toEqual([])
  })

  test('that of a key of another kind names every curve that has an algorithm', () => {
    const row = rows.find(([cell = '']) => cell.includes('a key of type … cannot be used'))
    const curves = [...ALGORITHMS.values()].flatMap((rule) => ('crv' in rule ? [rule.crv] : []))
    expect(curves.filter((crv) => row?.[1]?.includes(crv) !== true)).toEqual([])
  })

  test('messages are found with their parts left out, and begin as a row', () => {
    const code = `
      throw new TypeError('a: it\\'s wrong')
      throw new TypeError(\`\${name}: takes \${count === 1 ? 'one' : \`\${count}\`}; see \${{ a: 1 }.a}\`)
      throw new TypeError(explained('b'))
      throw new TypeError(complaint)`
    expect(messagesIn(code)).toEqual(["a: it's wrong", '…: takes …; see …', 'b', '…'])
    const pairs = [
      'a: … …|…: … …',
      'a.…: must be stated|…: must be',
      'a: b must be|…: … …',
      'a: b|b: b',
    ]
    const found = pairs.map((pair) => begins(...(pair.split('|') as [string, string])))
    expect(found).toEqual([true, true, false, false])
  })

  test('a mistake beside its check is a message and what to write, in one comment of several lines', () => {
    const code = `
    // Mistake \`…: takes …\`: Combine several
    // with \`all(...)\`.
    throw new TypeError('')
  // Mistake error-own \`a: b\`: Write c.
`
    expect(mistakesIn(code, 'a.ts').map(({ id, advice }) => [id, advice])).toEqual([
      ['error-takes', 'Combine several with `all(...)`.'],
      ['error-own', 'Write c.'],
    ])
    expect(() => mistakesIn('// Mistake of somebody\n', 'a.ts')).toThrow('a.ts: write // Mistake')
  })
})

test('every row of ERRORS.md says what it means, and what each side does', () => {
  const tables = tablesOf(read('packages/core/ERRORS.md')).filter(
    ({ columns: [first] }) => first === 'Reason',
  )
  expect(tables.map(({ heading }) => heading)).toEqual(Object.keys(refusals))
  expect(tables.flatMap(({ rows }) => rows).filter((row) => row.includes(''))).toEqual([])
})

test('no wording of a refusal is in the types that are exported, so each may change', () => {
  const reports = readAll('docs/api/*.md')
  const texts = Object.values(refusals).flatMap(({ description, reasons }) =>
    Object.values<string | null>(reasons).concat(description),
  )
  expect(reports.join('')).toContain("invalid_nonce'")
  expect(
    texts.filter((text) => text !== null && reports.some((report) => report.includes(text))),
  ).toEqual([])
  expect(Object.keys(authErrorReasons)).toEqual(Object.keys(refusals))
})

test('the error codes of packages/client/README.md are those of its errors.ts, in order', () => {
  const [, union = ''] =
    /^export type TokenClientErrorCode =(.*?)\n\n/ms.exec(
      read('packages/client/src/answer/errors.ts'),
    ) ?? []
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => `\`${code}\``)
  const { rows } = tableUnder(read('packages/client/README.md'), 'Errors', 'code')
  expect(rows.map(([code]) => code)).toEqual(codes)
  expect(codes.length).toBeGreaterThan(4)
})

test('what each guard and endpoint calls itself is a word of the label, so that its refusals are not counted as other', () => {
  const called = /check(?:Guard|Endpoint)Options\([^)]*?'(?<name>[\w-]+)'\)/g
  const names = readAll('packages/*/src/**/*.ts').flatMap((text) =>
    [...text.matchAll(called)].map(({ groups }) => groups?.['name'] ?? ''),
  )
  const folders = adapters.map(({ folder }) => folder)
  expect(names).toEqual(expect.arrayContaining([...folders, 'mcp-express', 'mcp-fetch']))
  expect(names.filter((name) => !Object.hasOwn(FRAMEWORKS.words, name))).toEqual([])
})
