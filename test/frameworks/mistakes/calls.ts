import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import * as client from '@portcullis/client'
import * as oauth from '@portcullis/client/oauth'
import * as core from '@portcullis/core'
import * as adapter from '@portcullis/core/adapter'
import * as explaining from '@portcullis/core/explain'
import * as events from '@portcullis/events'
import * as express from '@portcullis/express'
import * as expressRoutes from '@portcullis/express/routes'
import * as fastify from '@portcullis/fastify'
import * as fastifyRoutes from '@portcullis/fastify/routes'
import * as hono from '@portcullis/hono'
import * as honoRoutes from '@portcullis/hono/routes'
import * as introspection from '@portcullis/introspection'
import * as koa from '@portcullis/koa'
import * as koaRoutes from '@portcullis/koa/routes'
import * as mcp from '@portcullis/mcp'
import * as metrics from '@portcullis/metrics'
import * as opentelemetry from '@portcullis/metrics/opentelemetry'
import * as prometheus from '@portcullis/metrics/prometheus'
import * as nest from '@portcullis/nest'
import * as nestRoutes from '@portcullis/nest/routes'
import * as providers from '@portcullis/providers'
import * as redis from '@portcullis/redis'
import * as testing from '@portcullis/testing'
import framework from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

// All public functions, each with arguments that are right, and what else each argument takes.

/**
 * What can be imported. `core/json` and `core/verifier` are for packages of the family, whose types check what they call, and which
 * check what users pass in.
 */
export const ENTRIES: Readonly<Record<string, object>> = {
  core,
  'core/adapter': adapter,
  'core/explain': explaining,
  client,
  'client/oauth': oauth,
  events,
  express,
  'express/routes': expressRoutes,
  fastify,
  'fastify/routes': fastifyRoutes,
  hono,
  'hono/routes': honoRoutes,
  introspection,
  koa,
  'koa/routes': koaRoutes,
  mcp,
  metrics,
  'metrics/opentelemetry': opentelemetry,
  'metrics/prometheus': prometheus,
  nest,
  'nest/routes': nestRoutes,
  providers,
  redis,
  testing,
}

const MADE_BY_US = 'errors that the package itself makes'
const ANYTHING = 'takes anything that was thrown, and says whether it is one of ours'
const BY_ADAPTERS = 'adapters pass what core or the framework has made, at each request'
const SAME = 'is the function of core'

/** Functions without a row, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'core refusal': ANYTHING,
  'core refusalMessage': ANYTHING,
  'core refusalResponse': ANYTHING,
  'client/oauth refusalOf': ANYTHING,
  'nest authErrorOf': ANYTHING,
  'client TokenClientError': MADE_BY_US,
  'client/oauth OAuthError': MADE_BY_US,
  'redis RevocationStoreError': MADE_BY_US,
  'redis ReplayStoreError': MADE_BY_US,
  'core/adapter hasPassed': BY_ADAPTERS,
  'core/adapter isAtOnce': BY_ADAPTERS,
  'core/adapter propertySetter': BY_ADAPTERS,
  'core/adapter targetOf': BY_ADAPTERS,
  'core/adapter audiencesOf': BY_ADAPTERS,
  'core/adapter decidedByTenantsOf': BY_ADAPTERS,
  'core/adapter onlyIssuerOf': BY_ADAPTERS,
  'core/adapter proverOf': BY_ADAPTERS,
  'core/adapter signedClaims': BY_ADAPTERS,
  'core/adapter ownerOf': BY_ADAPTERS,
  'core/explain describeTime': 'makes a text of any two values',
  'nest PortcullisModule': 'its methods have rows',
  'nest OptionalAuth': 'has no argument',
  'nest Public': 'has no argument',
  ...Object.fromEntries(
    ['express', 'fastify', 'hono', 'koa', 'nest'].flatMap((name) => [
      [`${name} findAuth`, SAME],
      [`${name} getAuth`, SAME],
    ]),
  ),
}

/** Values that somebody without types might pass. Made anew each time, since guards remember objects. */
export const JUNK = {
  undefined: () => undefined,
  null: () => null,
  number: () => 5,
  text: () => 'text',
  object: () => ({}),
  list: () => [],
  function: () => () => {},
} as const

/** `missing`: the call may end before it. */
export type Word = keyof typeof JUNK | 'missing'

interface Argument {
  readonly right: unknown
  readonly takes: readonly Word[]
}

export interface Row {
  readonly name: string
  readonly call: (...given: unknown[]) => unknown
  readonly given: readonly Argument[]
  /** Pairs of arguments of one kind, which can be exchanged: `1-3`. */
  readonly alike: readonly string[]
  /** Whether the call is right as it stands. Of others it is known that no junk passes. */
  readonly isRight: boolean
}

function arg(right: unknown, ...takes: readonly Word[]): Argument {
  return { right, takes }
}

/** An argument that can be left out, and is an object. */
function options(right: unknown): Argument {
  return arg(right, 'undefined', 'object', 'missing')
}

/** Casts, since what is passed is wrong on purpose. */
function row(
  name: string,
  call: unknown,
  given: readonly Argument[],
  alike: readonly string[] = [],
): Row {
  return { name, call: call as Row['call'], given, alike, isRight: true }
}

/** One that would connect to something, or needs a provider: it is not called rightly here. */
function unready(name: string, call: unknown, given: readonly Argument[]): Row {
  return { ...row(name, call, given), isRight: false }
}

function method(name: string, owner: object, member: string, given: readonly Argument[]): Row {
  const call = (...all: unknown[]) =>
    (Reflect.get(owner, member) as Row['call']).call(owner, ...all)
  return row(name, call, given)
}

/** Its instance, or what it returns, is ended at once. */
function ended(call: unknown, end: (made: never) => unknown): Row['call'] {
  return (...all) => end((call as Row['call'])(...all) as never)
}

function made(constructor: unknown): Row['call'] {
  return (...all) => Reflect.construct(constructor as new () => object, all) as object
}

const name = 'https://a.test'
const issuer = await testing.createTestIssuer({ issuer: name })
const { keys, clock } = issuer.verifierOptions
const verifier = core.createVerifier(issuer.verifierOptions)
const token = await issuer.token({ claims: { scope: 'a', aud: 'a' } })
const requestOf = () => ({ headers: { authorization: `Bearer ${token}` } })
const request = requestOf()
await core.authenticateRequest(verifier, request)
const auth = core.getAuth(request)
const need = core.scope('a')
const metadata = core.protectedResourceMetadata({ resource: name })
const revocations = core.localRevocations()
const handle = () => {}
const schema = { '~standard': { version: 1, validate: (value: unknown) => ({ value }) } }
const close = (end: () => void) => {
  end()
}
const receiver = { keys, issuer: name, revocations, revokes: 'session', maxTokenLifetime: 60 }
const endpoint = [
  arg(core.createVerifier({ ...issuer.verifierOptions, audience: name })),
  arg({ resource: name, authorizationServers: [name] }),
  arg(handle, 'function'),
]
const instrument = { addCallback() {}, removeCallback() {}, record() {}, add() {} }
const meter = {
  createHistogram: () => instrument,
  createObservableCounter: () => instrument,
  createObservableGauge: () => instrument,
  addBatchObservableCallback() {},
  removeBatchObservableCallback() {},
}
const registry = { registerMetric() {}, removeSingleMetric() {} }
const challenged = new Response('', {
  status: 401,
  headers: { 'www-authenticate': 'Bearer realm="api"' },
})

const fastifyApp = createFastify()
const notedApp = createFastify()
fastifyRoutes.noteRoutes(notedApp)
class NestRoot {
  readonly name = 'root'
}
Module({})(NestRoot)
const nestApp = await NestFactory.create(NestRoot, { logger: false })

export const ROWS: readonly Row[] = [
  row('core acr', core.acr, [arg('gold', 'text')]),
  row('core authenticatedWithin', core.authenticatedWithin, [
    arg(60, 'number'),
    options({ clock }),
  ]),
  row('core byIssuer', core.byIssuer, [
    arg({ [name]: verifier }, 'function'),
    options({ remember: false }),
  ]),
  row('core dpopProofs', core.dpopProofs, [arg({ origin: name })]),
  row('core localReplays', core.localReplays, [options({ max: 10 })]),
  row('core expiry', core.expiry, [arg(auth)]),
  row('core mutualTls', core.mutualTls, [options({ required: true })]),
  row('core findAuth', core.findAuth, [arg(request), arg(verifier, 'undefined', 'missing')]),
  row('core getAuth', core.getAuth, [arg(request), arg(verifier, 'undefined', 'missing')]),
  row(
    'core authenticateRequest',
    core.authenticateRequest,
    [
      arg(verifier),
      arg(requestOf()),
      options({}),
      arg(requestOf(), 'undefined', 'object', 'list', 'missing'),
      arg({}, 'undefined', 'object', 'list', 'missing'),
    ],
    ['1-3', '2-4', '3-4'],
  ),
  row('core authorizeRequest', core.authorizeRequest, [arg(request), arg([need], 'list')]),
  row('core discoverKeys', core.discoverKeys, [arg(name), options({ maxAge: 60 })]),
  row('core fileKeys', core.fileKeys, [arg('keys.json', 'text'), options({ clock })]),
  row('core localKeys', core.localKeys, [arg(issuer.publicJwk), options({ algorithmNames: {} })]),
  row('core localRevocations', core.localRevocations, [options({ max: 10 })]),
  row('core remoteKeys', core.remoteKeys, [arg(`${name}/keys`), options({ maxAge: 60 })]),
  row('core all', core.all, [arg(need)]),
  row('core any', core.any, [arg(need)]),
  row('core anyScope', core.anyScope, [arg('a', 'text')]),
  row('core check', core.check, [arg(verifier), arg(() => true, 'function')]),
  row(
    'core claim',
    core.claim,
    [arg('role', 'text'), arg('admin', 'number', 'text', 'function')],
    ['0-1'],
  ),
  row('core scope', core.scope, [arg('a', 'text')]),
  row('core protectedResourceMetadata', core.protectedResourceMetadata, [arg({ resource: name })]),
  row('core grantedScopes', core.grantedScopes, [arg(auth)]),
  row('core delegationOf', core.delegationOf, [arg(auth)]),
  row('core actor', core.actor, [arg('agent-7', 'text'), options({ issuer: name })]),
  row('core createVerifier', core.createVerifier, [arg(issuer.verifierOptions)]),
  row('core watchToken', ended(core.watchToken, close), [
    arg(verifier),
    arg(auth),
    arg(handle, 'function'),
    options({ clock }),
  ]),
  row('core AuthError', made(core.AuthError), [
    arg('invalid_token'),
    arg('expired'),
    arg({}, 'undefined', 'object', 'list', 'function', 'missing'),
  ]),
  method('core localRevocations.load', revocations, 'load', [arg([], 'list')]),
  method('core localRevocations.hasRoomFor', revocations, 'hasRoomFor', [arg([], 'list')]),
  method('core localRevocations.revoke', revocations, 'revoke', [
    arg({ iss: 'a', jti: 'a', exp: 5 }),
  ]),
  method('core localRevocations.revokeBefore', revocations, 'revokeBefore', [
    // Whoever names nobody means all tokens without `iss`.
    arg({ iss: 'a', sub: 'a' }, 'object'),
    options({ time: 5, until: 6 }),
  ]),
  method('core localRevocations.subscribe', revocations, 'subscribe', [arg(handle, 'function')]),
  // What is no token is refused, as a request with it is.
  row('core Verifier.verify', async (given: unknown) => await verifier.verify(token, given as {}), [
    arg({}, 'undefined', 'object', 'list', 'missing'),
  ]),
  row('core/adapter checkGuardOptions', adapter.checkGuardOptions, [
    arg(verifier),
    arg({}, 'object'),
    arg('koa', 'undefined', 'text', 'missing'),
  ]),
  row(
    'core/adapter checkMetadata',
    (given: never) => {
      adapter.checkMetadata('serveMetadata', given)
    },
    [arg(metadata)],
  ),
  row(
    'core/adapter checkRequirementList',
    (given: never) => {
      adapter.checkRequirementList('authorize', given)
    },
    [arg([need])],
  ),
  // A text that the token does not name is refused, as a request with it is.
  row(
    'core/adapter requireAudience',
    (given: never) => {
      adapter.requireAudience(given, 'a')
    },
    [arg(request)],
  ),
  row('core/adapter applySchema', adapter.applySchema, [arg(schema), arg(auth)]),
  row(
    'core/explain explain',
    async (...given: unknown[]) =>
      (await Reflect.apply(explaining.explain, undefined, [token, ...given])) as unknown,
    [arg(issuer.verifierOptions), options({})],
  ),
  row('core/explain adviceOn', explaining.adviceOn, [
    arg(await explaining.explain(token, issuer.verifierOptions)),
  ]),
  row('core/explain explainKey', (given: never) => explaining.explainKey(issuer.publicJwk, given), [
    options({}),
  ]),
  ...Object.entries({ express, koa, hono, fastify }).flatMap(([folder, each]) => [
    row(`${folder} authenticate`, each.authenticate, [arg(verifier), options({})]),
    row(`${folder} authorize`, each.authorize, [arg(need)]),
    row(`${folder} serveMetadata`, each.serveMetadata, [arg(metadata)]),
  ]),
  row('express/routes describeRoutes', expressRoutes.describeRoutes, [arg(framework())]),
  row('hono/routes describeRoutes', honoRoutes.describeRoutes, [arg(new Hono())]),
  row('koa/routes describeRoutes', koaRoutes.describeRoutes, [arg(new Koa())]),
  row('fastify/routes noteRoutes', fastifyRoutes.noteRoutes, [arg(fastifyApp)]),
  row('fastify/routes describeRoutes', fastifyRoutes.describeRoutes, [arg(notedApp)]),
  row('nest/routes describeRoutes', nestRoutes.describeRoutes, [arg(nestApp)]),
  ...Object.entries({ expressRoutes, honoRoutes, koaRoutes, fastifyRoutes, nestRoutes }).map(
    ([module, { securityOf }]) =>
      row(`${module.replace('Routes', '/routes')} securityOf`, securityOf, [
        arg({ routes: [], isComplete: true }),
        options({ schemes: { bearer: { type: 'http' } } }),
      ]),
  ),
  row('nest serveMetadata', nest.serveMetadata, [arg(metadata)]),
  row('nest CurrentAuth', nest.CurrentAuth, [options({ optional: true })]),
  row('nest Requires', nest.Requires, [arg(need)]),
  row('nest PortcullisGuard', made(nest.PortcullisGuard), [arg({ verifier })]),
  method('nest PortcullisModule.forRoot', nest.PortcullisModule, 'forRoot', [arg({ verifier })]),
  method('nest PortcullisModule.forRootAsync', nest.PortcullisModule, 'forRootAsync', [
    arg({ useFactory: () => ({ verifier }) }),
  ]),
  row('nest AuthException', made(nest.AuthException), [
    arg(new core.AuthError('invalid_token', 'expired')),
  ]),
  row('mcp expressEndpoint', mcp.expressEndpoint, endpoint),
  row('mcp fetchEndpoint', mcp.fetchEndpoint, endpoint),
  row('introspection introspected', introspection.introspected, [
    arg({ issuer: name, audience: null, clientId: 'a', clientSecret: 'b' }),
  ]),
  row('introspection byForm', introspection.byForm, [arg({ jwt: verifier, opaque: verifier })]),
  row('events receiveLogout', events.receiveLogout, [arg({ ...receiver, clientId: 'a' })]),
  row('events receiveAppleEvents', events.receiveAppleEvents, [
    arg({ keys, revocations: receiver.revocations, clientId: 'a', mapSubject: () => undefined }),
  ]),
  row('events receiveEvents', events.receiveEvents, [
    arg({ ...receiver, audience: 'a', authorize: null }),
  ]),
  unready('events pollEvents', events.pollEvents, [arg({})]),
  unready('events openStream', events.openStream, [arg({})]),
  unready('redis redisRevocations', redis.redisRevocations, [arg({})]),
  unready('redis redisReplays', redis.redisReplays, [arg({})]),
  row('metrics createHealth', metrics.createHealth, [arg(verifier)]),
  row('metrics statusOf', metrics.statusOf, [arg({}, 'object')]),
  row('metrics/prometheus collectMetrics', ended(prometheus.collectMetrics, close), [
    arg(registry),
    options({}),
  ]),
  row('metrics/opentelemetry collectMetrics', ended(opentelemetry.collectMetrics, close), [
    arg(meter),
    options({}),
  ]),
  row('metrics/opentelemetry traceOperations', ended(opentelemetry.traceOperations, close), [
    arg({ startSpan() {} }),
    options({}),
    options({ verdicts: true }),
  ]),
  row('client createTokenClient', client.createTokenClient, [arg(issuer.clientOptions)]),
  row('client/oauth createOAuthClient', oauth.createOAuthClient, [
    arg({ issuer: name, clientId: 'a', clientSecret: 'b', origins: [] }),
  ]),
  row('testing assertChallenge', testing.assertChallenge, [arg(challenged), options({})]),
  row('testing assertRefuses', testing.assertRefuses, [
    arg(() => new Response(null, { status: 401 })),
    arg({
      routes: [
        { method: 'GET', path: '/', handler: '', state: 'required', requirements: [], before: [] },
      ],
      isComplete: true,
    }),
    options({ values: {} }),
  ]),
  row('testing assertGuarded', testing.assertGuarded, [
    arg({ routes: [], isComplete: true }),
    options({ open: [] }),
  ]),
  row('testing manualClock', testing.manualClock, [arg(5, 'undefined', 'number', 'missing')]),
  row('testing dpopClient', testing.dpopClient, [options({})]),
  row('testing eventTransmitter', testing.eventTransmitter, [arg(issuer), arg({ audience: 'a' })]),
  row('testing introspectionService', testing.introspectionService, [arg(issuer), options({})]),
  row('testing createTestIssuer', testing.createTestIssuer, [options({})]),
  row('testing stubVerifier', testing.stubVerifier, [options({})]),
  row('testing stubVerifier.refusing', testing.stubVerifier.refusing, [arg('expired')]),
  unready('testing reportVerdicts', testing.reportVerdicts, [arg({})]),
  row('testing tokenService', testing.tokenService, [arg(issuer), options({})]),
  ...Object.entries(providers).map(([provider, each]) =>
    unready(`providers ${provider}`, each, [arg({})]),
  ),
]
