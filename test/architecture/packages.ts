// What the packages beside core import of others. Every one may use the kit, and its own files as long as no circle comes of it.

/** A module of somebody else, and the sources that may import values from it; `*` is every source of the package. */
interface Use {
  readonly package: string
  readonly module: string
  readonly sources: readonly string[]
}

const TABLE = `
cli           | @portcullis/core          | *
cli           | @portcullis/core/explain  | *
cli           | @portcullis/core/verifier | commands/explain
cli           | @portcullis/introspection | explain/opaque-token
cli           | @portcullis/redis         | commands/explain commands/redis-stream commands/revoke
cli           | @portcullis/testing       | commands/probe-operations probe/challenge probe/credentials serve/service try/stage
cli           | commander                 | *
cli           | hono                      | pages/pages
cli           | hono/html                 | *
cli           | jose                      | try/stage
cli           | node:buffer               | serve/control
cli           | node:child_process        | doctor/typescript
cli           | node:crypto               | *
cli           | node:events               | commands/serve try/stage
cli           | node:fs                   | input/named-file program/program
cli           | node:fs/promises          | *
cli           | node:http                 | probe/exchange try/stage
cli           | node:https                | probe/exchange
cli           | node:net                  | input/named-file serve/secret
cli           | node:path                 | commands/serve doctor/installed doctor/packages doctor/typescript input/named-file
cli           | node:stream               | input/named-file
cli           | node:util                 | doctor/typescript input/named-file surroundings/terminal
client        | @portcullis/kit/client-authentication | oauth/client-authentication oauth/grant-exchange oauth/options
client        | node:crypto               | oauth/subject
client        | node:diagnostics_channel  | login/diagnostics
client        | node:fs/promises          | oauth/client-authentication
events        | @portcullis/core          | *
events        | @portcullis/core/verifier | *
events        | node:buffer               | poll-exchange stream-calls
events        | node:crypto               | authorization inbox open-stream polling stream-events
events        | node:diagnostics_channel  | diagnostics
events        | node:util                 | event-request
express       | @portcullis/core          | *
express       | @portcullis/core/adapter  | *
express       | node:http                 | layers
fastify       | @portcullis/core          | *
fastify       | @portcullis/core/adapter  | *
fastify       | fastify-plugin            | *
hono          | @portcullis/core          | *
hono          | @portcullis/core/adapter  | *
introspection | @portcullis/core          | *
introspection | @portcullis/core/verifier | *
introspection | @portcullis/kit/client-authentication | checked-options endpoint introspected
introspection | lru-cache                 | memory
introspection | node:diagnostics_channel  | diagnostics
koa           | @portcullis/core          | *
koa           | @portcullis/core/adapter  | *
koa           | node:http                 | layers
mcp           | @portcullis/core          | *
mcp           | @portcullis/core/adapter  | *
mcp           | lru-cache                 | sessions
metrics       | @opentelemetry/api        | spans
metrics       | node:diagnostics_channel  | collecting health
nest          | @nestjs/common            | controller-routes decorators exception functions-of-nest guard module
nest          | @nestjs/core              | controller-routes module routes
nest          | @nestjs/core/guards/guards-context-creator.js | guard-steps
nest          | @nestjs/core/middleware/middleware-module.js | functions-of-nest
nest          | @nestjs/core/router/paths-explorer.js | controller-routes
nest          | @nestjs/core/router/route-path-factory.js | controller-routes
nest          | @nestjs/core/router/router-proxy.js | functions-of-nest
nest          | @portcullis/core          | *
nest          | @portcullis/core/adapter  | *
nest          | reflect-metadata          | express-platform marks methods
providers     | @portcullis/core          | *
redis         | @portcullis/core          | *
redis         | @portcullis/core/verifier | *
redis         | @redis/client             | store/redis-transport
redis         | node:crypto               | program/commands replays/script revocations/redis-revocations
redis         | node:diagnostics_channel  | replays/diagnostics revocations/diagnostics
redis         | node:readline             | bin
redis         | node:util                 | bin program/arguments store/stream-report
testing       | @portcullis/core          | stub
testing       | @portcullis/core/adapter  | stub
testing       | jose                      | *
testing       | node:assert               | challenges/assert-challenge
testing       | node:crypto               | dpop/proof events/event-token introspection/opaque-tokens keys/given-key tokens/binding
testing       | node:diagnostics_channel  | verdict-reports
testing       | node:events               | service/listen
testing       | node:http                 | service/listen
testing       | node:net                  | service/listen
testing       | node:util                 | octets
`

export const USES: readonly Use[] = TABLE.trim()
  .split('\n')
  .map((row) => row.split('|').map((cell) => cell.trim()))
  .map(([name = '', module = '', sources = '']) => ({
    package: name,
    module,
    sources: sources.split(' '),
  }))

/**
 * Sources that decide, each with all that they reach: nothing that acts. A model or a simulation plays with them, and a test asks them in
 * tables.
 */
export const DECIDING: Readonly<Record<string, readonly string[]>> = {
  'client/answer/lifetime': ['client/answer/token-response', '@portcullis/kit/json'],
  'client/login/renewal': [
    'client/login/held-token',
    '@portcullis/kit/pace',
    '@portcullis/kit/time',
  ],
  'events/polling': ['node:crypto', '@portcullis/kit/pace'],
  'introspection/decisions': ['@portcullis/kit/pace', '@portcullis/kit/time'],
  'introspection/pace': ['@portcullis/kit/pace'],
  'redis/revocations/comparison': ['redis/store/entry-id'],
  'redis/revocations/following': [
    'redis/revocations/comparison',
    'redis/store/entry-id',
    'redis/store/time',
  ],
  'redis/revocations/restoring': ['redis/revocations/comparison', 'redis/store/entry-id'],
  'redis/store/pacing': ['@portcullis/kit/pace'],
}

/** What of the kit has a third party, which whoever uses it must have as a dependency: it needs a row, and core has none. */
const WITH_THIRD_PARTY = '@portcullis/kit/client-authentication'

/** What is wrong with an import of values, if anything is. @param source As `redis/store/writer`. @param module As it is written. */
export function complaintAbout(source: string, module: string): string | undefined {
  const [owner = '', ...path] = source.split('/')
  // What signs must not read by what it tests. A list of routes has nothing of a token.
  const isOfKit =
    owner === 'testing'
      ? ['@portcullis/kit/options', '@portcullis/kit/route-list'].includes(module)
      : module.startsWith('@portcullis/kit/') && module !== WITH_THIRD_PARTY
  if (isOfKit) return undefined
  const name = path.join('/')
  const isAllowed = USES.some(
    (use) =>
      use.package === owner &&
      use.module === module &&
      (use.sources.includes('*') || use.sources.includes(name)),
  )
  return isAllowed ? undefined : `${source} must not import ${module}`
}
