import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Which imports of values each source has; types may cross. Steps never call each other: only the verifier does, and the
 * explanation, and they know their order.
 */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  'core/refusals': [],
  'core/details/text': [],
  'core/details/bearer': [],
  'core/details/token': ['details/text'],
  'core/details/keys': ['time', 'details/text'],
  'core/details/claims': ['details/text', 'json'],
  'core/details/revocations': ['details/text', 'json'],
  'core/details/requirement': ['details/text'],
  'core/details/issuers': ['details/text'],
  'core/presentation': ['options', 'refusals'],
  'core/answers': ['errors', 'options', 'refusals'],
  'core/errors': ['details/text', 'options', 'presentation', 'refusals'],
  'core/base64url': [],
  'core/json': ['node:buffer'],
  'core/options': [],
  'core/time': [],
  'core/auth': [],
  'core/algorithms': ['details/text', 'errors', 'json', 'options'],
  'core/bearer': ['details/bearer', 'errors', 'options'],
  'core/token': ['lru-cache', 'details/token', 'errors', 'base64url', 'json', 'options'],
  'core/verified-tokens': ['lru-cache', 'json', 'keys/key-source', 'options'],
  'core/event-loop': [],
  'core/signature': ['node:crypto', 'algorithms', 'event-loop'],
  'core/claims': ['details/claims', 'details/token', 'errors', 'json'],
  'core/scopes': ['json'],
  'core/requirement': [
    'details/claims',
    'details/requirement',
    'errors',
    'json',
    'options',
    'scopes',
  ],
  'core/keys/key-source': [],
  'core/keys/http-caching': [],
  'core/keys/fetch-json': ['node:buffer', 'json', 'keys/http-caching'],
  'core/keys/pace': [],
  'core/keys/ring': ['time'],
  'core/keys/lifetime': [],
  'core/keys/cache-state': ['keys/pace', 'keys/ring'],
  'core/keys/rotation': ['time', 'keys/lifetime', 'keys/pace', 'keys/ring'],
  'core/keys/key-material': ['algorithms', 'base64url', 'json'],
  'core/keys/jwk-input': ['node:crypto', 'options'],
  'core/keys/jwk': ['node:crypto', 'algorithms', 'options', 'keys/jwk-input', 'keys/key-material'],
  'core/loopback': [],
  'core/keys/key-url': ['loopback', 'options'],
  'core/keys/snapshot': [
    'json',
    'keys/cache-state',
    'keys/key-document',
    'keys/key-material',
    'keys/lifetime',
    'keys/rotation',
  ],
  'core/keys/fetch-keys': ['json', 'keys/fetch-json', 'keys/key-document'],
  'core/keys/metadata': ['json', 'keys/fetch-json', 'keys/key-url'],
  'core/keys/key-document': ['json', 'keys/jwk'],
  'core/keys/local-keys': [
    'node:crypto',
    'details/text',
    'algorithms',
    'options',
    'time',
    'keys/key-document',
  ],
  'core/keys/waiting-room': ['details/keys', 'errors'],
  'core/keys/suspect': [
    'node:crypto',
    'lru-cache',
    'options',
    'keys/cache-state',
    'keys/ring',
    'keys/rotation',
  ],
  'core/keys/key-cache': [
    'debug-log',
    'details/keys',
    'diagnostics',
    'errors',
    'time',
    'keys/cache-state',
    'keys/fetch-json',
    'keys/key-status',
    'keys/lifetime',
    'keys/ring',
    'keys/rotation',
    'keys/snapshot',
    'keys/suspect',
    'keys/waiting-room',
  ],
  'core/keys/key-status': [
    'time',
    'keys/key-source',
    'keys/lifetime',
    'keys/ring',
    'keys/rotation',
  ],
  'core/keys/remote-keys': [
    'algorithms',
    'options',
    'time',
    'keys/fetch-keys',
    'keys/key-cache',
    'keys/key-url',
    'keys/snapshot',
  ],
  'core/keys/discovery': [
    'time',
    'keys/fetch-json',
    'keys/fetch-keys',
    'keys/key-cache',
    'keys/metadata',
    'keys/remote-keys',
    'keys/snapshot',
  ],
  'core/diagnostics': ['node:diagnostics_channel'],
  'core/debug-log': ['node:util', 'details/text'],
  'core/prover': [
    'algorithms',
    'claims',
    'details/keys',
    'errors',
    'json',
    'keys/key-source',
    'signature',
    'token',
  ],
  'core/verifier-options': ['algorithms', 'json', 'options'],
  'core/verifier': [
    'algorithms',
    'claims',
    'details/keys',
    'details/token',
    'diagnostics',
    'errors',
    'json',
    'observed-verdict',
    'options',
    'own-verifiers',
    'prover',
    'recall',
    'revocation-check',
    'revocation-watch',
    'schema',
    'time',
    'verified-tokens',
    'verifier-options',
  ],
  'core/own-verifiers': [],
  'core/verifier-calls': [
    'details/issuers',
    'keys/waiting-room',
    'options',
    'own-verifiers',
    'time',
  ],
  'core/issuer-directory': [
    'lru-cache',
    'details/issuers',
    'errors',
    'keys/waiting-room',
    'options',
    'time',
    'verifier-calls',
  ],
  'core/by-issuer-options': ['options', 'verifier-options'],
  'core/by-issuer': [
    'by-issuer-options',
    'claims',
    'details/issuers',
    'details/token',
    'diagnostics',
    'errors',
    'issuer-directory',
    'json',
    'options',
    'own-verifiers',
    'recall',
    'revocation-watch',
    'time',
    'token',
    'verified-tokens',
    'verifier-calls',
    'verifier-options',
  ],
  'core/listeners': [],
  'core/revocations': [],
  'core/revocation-entries': ['expiry', 'json', 'options'],
  'core/revocation-list': ['json', 'revocation-entries'],
  'core/local-revocations': [
    'json',
    'listeners',
    'options',
    'revocation-entries',
    'revocation-list',
    'time',
  ],
  'core/revocation-check': ['details/revocations', 'errors', 'options'],
  'core/revocation-watch': [],
  'core/observed-verdict': ['diagnostics', 'errors'],
  'core/expiry': ['base64url', 'json'],
  'core/details/explanation': ['details/text', 'json'],
  'core/explanation/finding': ['errors'],
  'core/explanation/header': [
    'algorithms',
    'claims',
    'details/text',
    'details/token',
    'errors',
    'explanation/finding',
    'json',
    'token',
  ],
  'core/explanation/keys': [
    'algorithms',
    'details/keys',
    'details/text',
    'errors',
    'explanation/finding',
    'json',
    'keys/key-source',
    'signature',
  ],
  'core/explanation/claims': [
    'claims',
    'details/explanation',
    'details/token',
    'errors',
    'explanation/finding',
    'json',
  ],
  'core/explanation/revocations': ['claims', 'explanation/finding', 'revocation-check', 'time'],
  'core/explanation/hints': ['details/claims', 'details/explanation', 'details/text', 'errors'],
  'core/explain': [
    'algorithms',
    'claims',
    'explanation/claims',
    'explanation/finding',
    'explanation/header',
    'explanation/hints',
    'explanation/keys',
    'explanation/revocations',
    'json',
    'options',
    'verifier',
    'verifier-options',
  ],
  'core/guard-options': ['options', 'scopes'],
  'core/recall': [],
  'core/passed-guards': [],
  'core/http': [
    'debug-log',
    'details/requirement',
    'errors',
    'guard-options',
    'options',
    'bearer',
    'passed-guards',
    'recall',
    'requirement',
  ],
  'core/watch-token': ['details/keys', 'errors', 'expiry', 'options', 'revocation-watch', 'time'],
  'core/index': [
    'answers',
    'by-issuer',
    'errors',
    'expiry',
    'guard-options',
    'http',
    'keys/discovery',
    'keys/local-keys',
    'keys/remote-keys',
    'local-revocations',
    'requirement',
    'resource-metadata',
    'scopes',
    'verifier',
    'watch-token',
  ],
  'cli/advice': ['public-key-mac', 'short-key'],
  'cli/commands/keys': [
    '@portcullis/core',
    'exit-code',
    'interruption',
    'key-choice',
    'key-inspection',
    'key-report',
    'printable',
    'verifier-flags',
  ],
  'cli/interruption': ['exit-code'],
  'cli/key-inspection': [
    '@portcullis/core',
    'exit-code',
    'interruption',
    'key-choice',
    'key-lint',
    'node:crypto',
    'token-input',
    'unread-json',
  ],
  'cli/key-lint': ['@portcullis/core', 'unread-json'],
  'cli/key-report': ['printable', 'remarks', 'wrapped'],
  'cli/remarks': ['printable', 'wrapped'],
  'cli/short-key': ['node:crypto', 'unread-json'],
  'cli/unread-json': [],
  'cli/verifier-flags': ['commander'],
  'cli/commands/probe': [
    '@portcullis/core',
    '@portcullis/core/explain',
    'exit-code',
    'key-choice',
    'printable',
    'probe/credentials',
    'probe/exchange',
    'probe/findings',
    'probe/report',
    'serve/loopback',
    'token-input',
    'verifier-flags',
  ],
  'cli/probe/credentials': ['@portcullis/testing', 'node:crypto', 'public-key-mac', 'unread-json'],
  'cli/probe/exchange': ['error-code', 'exit-code', 'node:http', 'node:https'],
  'cli/probe/findings': ['probe/judgement'],
  'cli/probe/judgement': ['@portcullis/testing'],
  'cli/probe/report': ['printable', 'probe/findings', 'wrapped'],
  'cli/commands/doctor': [
    'doctor/packages',
    'doctor/typescript',
    'exit-code',
    'interruption',
    'key-choice',
    'key-inspection',
    'printable',
    'verifier-flags',
    'wrapped',
  ],
  'cli/doctor/checked': [],
  'cli/doctor/installed': ['node:fs/promises', 'node:path', 'unread-json'],
  'cli/doctor/packages': ['doctor/installed', 'doctor/version-range', 'node:path', 'unread-json'],
  'cli/doctor/typescript': [
    'doctor/installed',
    'doctor/version-range',
    'node:child_process',
    'node:fs/promises',
    'node:path',
    'node:util',
    'unread-json',
  ],
  'cli/doctor/version-range': [],
  'cli/commands/completion': ['commander', 'completion-script'],
  'cli/completion-script': [],
  'cli/explanation-report': ['printable', 'wrapped'],
  'cli/key-choice': [
    '@portcullis/core',
    'exit-code',
    'node:crypto',
    'token-input',
    'verifier-flags',
  ],
  'cli/public-key-mac': ['node:crypto', 'unread-json'],
  'cli/wrapped': [],
  'cli/commands/explain': [
    '@portcullis/core/explain',
    'advice',
    'exit-code',
    'explanation-report',
    'key-choice',
    'token-input',
    'verifier-flags',
  ],
  'cli/commands/decode': ['exit-code', 'printable', 'token-input'],
  'cli/commands/login': [
    '@portcullis/client',
    'commander',
    'exit-code',
    'key-choice',
    'password-input',
  ],
  'cli/password-input': ['exit-code', 'interruption', 'token-input'],
  'cli/context': [],
  'cli/error-code': [],
  'cli/exit-code': [],
  'cli/index': ['program', 'system-clock'],
  'cli/main': ['program', 'system-clock'],
  'cli/printable': [],
  'cli/program': [
    'commander',
    'commands/completion',
    'commands/control',
    'commands/decode',
    'commands/doctor',
    'commands/explain',
    'commands/keys',
    'commands/login',
    'commands/probe',
    'commands/revoke',
    'commands/serve',
    'commands/watch',
    'exit-code',
    'node:fs',
    'terminal',
  ],
  'cli/commands/control': ['commander', 'printable', 'serve/control-client', 'serve/flags'],
  'cli/commands/revoke': ['exit-code', 'key-choice', 'printable', 'serve/flags', 'token-input'],
  'cli/commands/serve': [
    'node:crypto',
    'node:fs/promises',
    'node:path',
    'error-code',
    'exit-code',
    'pages/pages',
    'serve/control',
    'serve/event-line',
    'serve/flags',
    'serve/gate',
    'serve/input',
    'serve/key-file',
    'serve/key-keeper',
    'serve/loopback',
    'serve/operation-error',
    'serve/service',
    'serve/settings',
    'serve/site',
  ],
  'cli/commands/watch': ['exit-code', 'serve/control-client', 'serve/event-line', 'serve/flags'],
  'cli/pages/browser-files': ['node:fs/promises'],
  'cli/pages/event-story': ['pages/text'],
  'cli/pages/faults-panel': ['hono/html', 'pages/text'],
  'cli/pages/keys-panel': ['hono/html', 'pages/text'],
  'cli/pages/layout': ['hono/html'],
  'cli/pages/log-panel': ['hono/html', 'pages/event-story', 'pages/text'],
  'cli/pages/mint-form': ['serve/input'],
  'cli/pages/mint-panel': ['hono/html', 'pages/text'],
  'cli/pages/pages': [
    'hono',
    'hono/html',
    'pages/browser-files',
    'pages/faults-panel',
    'pages/keys-panel',
    'pages/layout',
    'pages/log-panel',
    'pages/mint-form',
    'pages/mint-panel',
    'pages/timeline',
    'pages/token-panel',
    'serve/control',
    'serve/input',
    'serve/requests',
  ],
  'cli/pages/text': ['hono/html', 'printable'],
  'cli/pages/timeline': [],
  'cli/pages/token-panel': ['hono/html', 'pages/text'],
  'cli/serve/control': [
    'serve/event-stream',
    'serve/explain-token',
    'serve/input',
    'serve/operation-error',
    'serve/requests',
  ],
  'cli/serve/control-client': ['exit-code', 'printable', 'serve/control'],
  'cli/serve/event-line': ['printable'],
  'cli/serve/event-log': [],
  'cli/serve/event-stream': [],
  'cli/serve/explain-token': [
    '@portcullis/core',
    '@portcullis/core/explain',
    'advice',
    'exit-code',
    'explanation-report',
    'serve/input',
    'token-input',
  ],
  'cli/serve/flags': ['commander', 'exit-code'],
  'cli/serve/gate': ['node:crypto', 'serve/loopback'],
  'cli/serve/input': [],
  'cli/serve/key-file': ['node:fs/promises', 'error-code', 'exit-code'],
  'cli/serve/key-keeper': ['serve/key-file', 'serve/operation-error'],
  'cli/serve/loopback': ['node:net'],
  'cli/serve/operation-error': [],
  'cli/serve/requests': ['serve/input'],
  'cli/serve/key-documents': [],
  'cli/serve/rotations': ['serve/input', 'serve/operation-error'],
  'cli/serve/service': [
    '@portcullis/testing',
    'serve/event-log',
    'serve/explain-token',
    'serve/input',
    'serve/key-documents',
    'serve/rotations',
  ],
  'cli/serve/settings': ['serve/input', 'serve/requests'],
  'cli/serve/site': [],
  'cli/surroundings': [],
  'cli/system-clock': [],
  'cli/terminal': ['node:util'],
  'cli/token-input': ['exit-code', 'interruption', 'node:fs/promises', 'node:path'],
  'client/errors': [],
  'client/time': [],
  'client/diagnostics': ['node:diagnostics_channel'],
  'client/held-token': [],
  'client/renewal': ['held-token'],
  'client/options': ['time'],
  'client/token-response': [],
  'client/http-time': [],
  'client/http-answer': ['errors', 'http-time'],
  'client/lifetime': ['token-response'],
  'client/token-request': [
    'errors',
    'http-answer',
    'http-time',
    'lifetime',
    'time',
    'token-response',
  ],
  'client/login': ['errors', 'token-request'],
  'client/shared-login': ['errors', 'login'],
  'client/authorized-fetch': ['errors', 'http-answer'],
  'client/token-client': [
    'authorized-fetch',
    'diagnostics',
    'errors',
    'held-token',
    'options',
    'renewal',
    'shared-login',
    'time',
  ],
  'client/index': ['errors', 'token-client'],
  'express/index': ['@portcullis/core'],
  'express/request': [],
  'hono/index': ['@portcullis/core'],
  'koa/index': ['@portcullis/core'],
  'fastify/index': ['@portcullis/core', 'fastify-plugin', 'registration'],
  'fastify/registration': ['fastify-plugin'],
  'core/resource-metadata': ['loopback', 'options', 'scopes'],
  'core/schema': ['details/claims', 'errors'],
  'nest/index': ['@portcullis/core', 'decorators', 'exception', 'guard', 'metadata', 'module'],
  'nest/module': ['@nestjs/common', '@nestjs/core', 'guard'],
  'nest/guard': [
    '@nestjs/common',
    '@portcullis/core',
    'context',
    'exception',
    'handlers',
    'marks',
    'operations',
  ],
  'nest/decorators': [
    '@nestjs/common',
    '@portcullis/core',
    'context',
    'exception',
    'handlers',
    'marks',
    'operations',
  ],
  'nest/handlers': ['marks', 'methods'],
  'nest/marks': ['methods', 'reflect-metadata'],
  'nest/methods': ['reflect-metadata'],
  'nest/operations': [],
  'nest/context': [],
  'nest/exception': ['@nestjs/common', '@portcullis/core'],
  'nest/metadata': [],
  'redis/entry-id': [],
  'redis/record': [],
  'redis/time': [],
  'redis/new-entries': ['@portcullis/core'],
  'redis/errors': [],
  'redis/diagnostics': ['node:diagnostics_channel'],
  'redis/options': ['time'],
  'redis/connection': ['errors', 'time'],
  'redis/redis-transport': ['@redis/client'],
  'redis/stream': ['entry-id', 'errors', 'record'],
  'redis/following': ['entry-id', 'errors', 'time'],
  'redis/pacing': [],
  'redis/replica-state': ['entry-id', 'following', 'time'],
  'redis/status': ['following', 'time'],
  'redis/replica': ['entry-id', 'errors', 'following', 'pacing', 'record', 'replica-state', 'time'],
  'redis/reader': ['connection', 'errors', 'pacing', 'replica', 'stream'],
  'redis/writer': ['connection', 'errors', 'stream'],
  'redis/redis-revocations': [
    '@portcullis/core',
    'diagnostics',
    'errors',
    'following',
    'new-entries',
    'options',
    'pacing',
    'reader',
    'record',
    'redis-transport',
    'replica-state',
    'status',
    'time',
    'writer',
  ],
  'redis/compaction': ['record'],
  'redis/commands': [
    'node:crypto',
    'compaction',
    'entry-id',
    'errors',
    'new-entries',
    'record',
    'time',
  ],
  'redis/program': ['node:util', 'commands', 'connection', 'errors', 'options', 'stream', 'time'],
  'redis/bin': ['node:readline', 'program', 'redis-transport'],
  'redis/index': ['errors', 'redis-revocations'],
  'testing/index': [
    'challenges/assert-challenge',
    'clock',
    'issuer',
    'stub',
    'token-service',
    'verdict-reports',
  ],
  'testing/issuer-options': ['keys/signing-key', 'options'],
  'testing/issuer': [
    'clock',
    'issuer-options',
    'keys/key-rotation',
    'keys/private-keys',
    'keys/signing-key',
    'service/backend',
    'service/emulation',
    'service/outage',
    'service/request-log',
    'stub',
    'tokens/bad-tokens',
    'tokens/edge-tokens',
    'tokens/token',
  ],
  'testing/clock': [],
  'testing/options': [],
  'testing/stub': ['@portcullis/core', 'options'],
  'testing/token-service': ['service/backend', 'service/emulation'],
  'testing/verdict-reports': ['node:diagnostics_channel', 'clock', 'options', 'verdict-tally'],
  'testing/verdict-tally': [],
  'testing/keys/signing-key': ['jose'],
  'testing/keys/given-key': ['node:crypto', 'jose', 'keys/signing-key'],
  'testing/keys/key-phases': [],
  'testing/keys/key-rotation': ['keys/key-phases', 'keys/signing-key', 'options'],
  'testing/keys/private-keys': ['keys/given-key', 'keys/key-rotation'],
  'testing/tokens/token': ['options'],
  'testing/tokens/bad-token': [],
  'testing/tokens/bad-tokens': [
    'tokens/bad-claims',
    'tokens/bad-forms',
    'tokens/bad-signatures',
    'tokens/token',
  ],
  'testing/tokens/bad-claims': ['jose'],
  'testing/tokens/bad-forms': ['jose'],
  'testing/tokens/bad-signatures': ['jose'],
  'testing/tokens/edge-tokens': ['jose', 'tokens/token'],
  'testing/service/emulation': ['service/endpoints', 'service/listen'],
  'testing/service/backend': [],
  'testing/service/endpoints': ['options', 'service/request-log'],
  'testing/service/listen': ['node:events', 'node:http', 'node:net', 'options'],
  'testing/service/misbehaviours': [],
  'testing/service/outage': ['options', 'service/misbehaviours'],
  'testing/service/request-log': [],
  'testing/challenges/assert-challenge': ['challenges/challenge', 'node:assert', 'options', 'stub'],
  'testing/challenges/challenge': [],
}

const sources = globSync('packages/*/src/**/*.ts', { cwd: root }).toSorted()

test('every source has its place in the table, and the table names no other', () => {
  expect(sources.map(nameOf).toSorted()).toEqual(Object.keys(EDGES).toSorted())
})

test.each(sources)('%s imports what its place says, no more and no less', (source) => {
  expect([...new Set(valueImports(source))].toSorted()).toEqual(EDGES[nameOf(source)]?.toSorted())
})

// Where zone.js or a tracer has replaced the global `Promise`, what an asynchronous function returns is no instance of it.
test.each(sources)('%s does not ask what is an instance of Promise', (path) => {
  expect(readFileSync(join(root, path), 'utf8')).not.toContain('instanceof Promise')
})

test('only byIssuer reads the issuer that an unproven token names', () => {
  const readers = sources.filter((source) => read(source).includes('unprovenIssuer'))
  expect(readers).toEqual(['packages/core/src/by-issuer.ts', 'packages/core/src/claims.ts'])
})

test('no imports form a circle, types included', () => {
  expect(circles()).toEqual([])
})

/** Programs, which are no libraries. */
const PROGRAMS: ReadonlySet<string> = new Set([
  'packages/cli/src/main.ts',
  'packages/redis/src/bin.ts',
])

test('no source of a published package reads the environment or writes to the console', () => {
  const libraries = sources.filter((source) => !PROGRAMS.has(source))
  const offenders = libraries.filter((source) =>
    /process\.env|console\.|export default|export \*/.test(read(source)),
  )
  expect(offenders).toEqual([])
})

function nameOf(source: string): string {
  return source
    .replace(/^packages\//, '')
    .replace('/src/', '/')
    .replace(/\.ts$/, '')
}

/** The modules that a source imports values from: its own package's by their name in the table. */
function valueImports(source: string): string[] {
  const statements = read(source).matchAll(
    /^(?:import|export)\s+(?!type\b)(?:(?<names>[^'";]*?)\s+from\s+)?'(?<from>[^']+)'/gms,
  )
  return [...statements]
    .filter(({ groups }) => !onlyTypes(groups?.['names'] ?? ''))
    .map(({ groups }) => groups?.['from'] ?? '')
    .map((from) => (from.startsWith('.') ? within(source, from) : from))
}

/** `import { type A, type B }` */
function onlyTypes(names: string): boolean {
  const each = names
    .replaceAll(/[{}\s]+/g, ' ')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return each.length > 0 && each.every((name) => name.startsWith('type '))
}

function within(source: string, from: string): string {
  const target = join(dirname(source), from)
  return relative(source.replace(/\/src\/.*/, '/src'), target).replace(/\.ts$/, '')
}

/** The sources that import each other, directly or through others: a list for each circle. */
function circles(): readonly (readonly string[])[] {
  const imports = new Map(sources.map((source) => [nameOf(source), localImports(source)]))
  const reached = new Map([...imports.keys()].map((name) => [name, reachable(name, imports)]))
  const found = [...reached].map(([name, targets]) =>
    [...targets].filter((target) => reached.get(target)?.has(name)).toSorted(),
  )
  const distinct = new Map(found.map((names) => [names.join(' '), names]))
  return [...distinct.values()].filter((names) => names.length > 0)
}

/** What a source imports from its own package, values and types. */
function localImports(source: string): readonly string[] {
  const [owner = ''] = nameOf(source).split('/')
  const specifiers = read(source).matchAll(/\b(?:from|import)\s*\(?\s*'(?<from>\.[^']+)'/g)
  return [...specifiers].map(({ groups }) => `${owner}/${within(source, groups?.['from'] ?? '')}`)
}

function reachable(
  name: string,
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [...(imports.get(name) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...(imports.get(next) ?? []))
  }
  return found
}

function read(source: string): string {
  return readFileSync(join(root, source), 'utf8')
}
