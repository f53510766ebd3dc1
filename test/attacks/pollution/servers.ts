import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import {
  all,
  any,
  check,
  claim,
  type Clock,
  createVerifier,
  type GuardOptions,
  type KeySource,
  localKeys,
  remoteKeys,
  type Requirement,
  scope,
  type Verifier,
} from '@portcullis/core'
import * as onExpress from '@portcullis/express'
import * as onFastify from '@portcullis/fastify'
import * as onKoa from '@portcullis/koa'
import express5 from 'express'
import express4 from 'express4'
import createFastify, { type FastifyInstance } from 'fastify'
import createFastify4 from 'fastify4'
import type { JWK } from 'jose'
import Koa from 'koa'
import Koa2 from 'koa2'

import { VALUES } from './values.ts'

// A program: it serves all adapters, and puts on `Object.prototype` what its parent tells it.

interface Route {
  readonly path: string
  readonly verifier: Verifier
  readonly options?: GuardOptions
  readonly requirements?: readonly Requirement[]
}

function routesFor(good: JWK, other: JWK): readonly Route[] {
  const verifier = verifierOf(localKeys(good))
  const optional = { verifier, options: { optional: true } }
  const needing = (path: string, ...requirements: Requirement[]) => ({
    path,
    verifier,
    requirements,
  })
  return [
    { path: '/read', verifier },
    { path: '/other', verifier: verifierOf(localKeys(other)) },
    { path: '/remote', verifier: verifierOf(keysOf(good)) },
    { path: '/optional', ...optional },
    { path: '/optional/scope', ...optional, requirements: [scope('read')] },
    needing('/scope', scope('write')),
    needing('/any', any(scope('write'), claim('role', 'admin'))),
    needing('/all', all(scope('read'), scope('write'))),
    needing('/claim', claim(['realm', 'role'], 'admin')),
    needing(
      '/check',
      check(({ claims }) => claims.sub === 'nobody'),
    ),
  ]
}

function verifierOf(keys: KeySource): Verifier {
  return createVerifier({
    keys,
    issuer: null,
    audience: null,
    remember: false,
    // The times of the tokens are real ones.
    clock: { ...clock, now: () => Date.now() / 1000 },
  })
}

/** The clock of the keys: each round is so much later that the document is fetched anew. */
let now = 1_000_000
const clock: Clock = {
  now: () => now,
  monotonic: () => now,
  after(seconds, run) {
    const timer = setTimeout(run, seconds * 1000)
    return () => {
      clearTimeout(timer)
    }
  },
}

/** Keys behind a URL, without a network. */
function keysOf(jwk: JWK): KeySource {
  const octets = Buffer.from(JSON.stringify(jwk))
  return remoteKeys('https://keys.test/pubkey.json', {
    clock,
    fetch: async () =>
      await Promise.resolve({
        status: 200,
        redirected: false,
        url: '',
        headers: { get: () => null },
        body: (async function* () {
          yield await Promise.resolve(octets)
        })(),
      }),
  })
}

function expressListener(create: typeof express5, routes: readonly Route[]): RequestListener {
  const app = create().set('env', 'test')
  for (const { path, verifier, options, requirements = [] } of routes) {
    const router = create.Router()
    router.use(onExpress.authenticate(verifier, options))
    if (requirements.length > 0) router.use(onExpress.authorize(...requirements))
    router.get('/', (_request, response) => {
      response.end('in')
    })
    app.use(path, router)
  }
  return app
}

function koaListener(app: Koa, routes: readonly Route[]): RequestListener {
  app.silent = true
  for (const { path, verifier, options, requirements = [] } of routes) {
    const guard = onKoa.authenticate(verifier, options)
    const demand = requirements.length > 0 ? onKoa.authorize(...requirements) : undefined
    app.use(async (context, next) => {
      if (context.path !== path && !context.path.startsWith(`${path}/u`)) {
        await next()
        return
      }
      const answer = async () => {
        context.body = 'in'
        await Promise.resolve()
      }
      await guard(context, async () => await (demand?.(context, answer) ?? answer()))
    })
  }
  const handle = app.callback()
  return (request, response) => void handle(request, response)
}

async function fastifyServer(app: FastifyInstance, routes: readonly Route[]): Promise<Server> {
  for (const { path, verifier, options, requirements = [] } of routes) {
    await app.register(
      async (scoped) => {
        await scoped.register(onFastify.authenticate(verifier, options))
        if (requirements.length > 0)
          scoped.addHook('onRequest', onFastify.authorize(...requirements))
        scoped.get('/', () => 'in')
        if (path === '/read') scoped.setNotFoundHandler(() => 'in')
      },
      { prefix: path },
    )
  }
  await app.ready()
  return app.server
}

async function start(good: JWK, other: JWK): Promise<Record<string, number>> {
  const routes = routesFor(good, other)
  // What these servers use, both majors have alike, with types of their own.
  const servers: Record<string, Server> = {
    'Express 5': createServer(expressListener(express5, routes)),
    'Express 4': createServer(expressListener(express4 as unknown as typeof express5, routes)),
    'Koa 3': createServer(koaListener(new Koa(), routes)),
    'Koa 2': createServer(koaListener(new Koa2() as unknown as Koa, routes)),
    'Fastify 5': await fastifyServer(createFastify(), routes),
    'Fastify 4': await fastifyServer(createFastify4() as unknown as FastifyInstance, routes),
  }
  const ports: Record<string, number> = {}
  for (const [name, server] of Object.entries(servers)) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ports[name] = (server.address() as AddressInfo).port // it listens on a port
  }
  return ports
}

type Message =
  | { readonly good: JWK; readonly other: JWK }
  | { readonly names: readonly string[]; readonly value: string }

let polluted: readonly string[] = []

process.on('message', (message: Message) => {
  for (const name of polluted) Reflect.deleteProperty(Object.prototype, name)
  polluted = []
  now += 100_000
  if (!('names' in message)) {
    void start(message.good, message.other).then((ports) => process.send?.(ports))
    return
  }
  const { names, value } = message
  const descriptor: PropertyDescriptor = Object.assign(Object.create(null) as object, {
    value: VALUES[value],
    writable: true,
    enumerable: true,
    configurable: true,
  })
  // Before the pollution, since sending a message may not survive it.
  process.send?.('polluted')
  polluted = names
  // oxlint-disable-next-line eslint/no-extend-native -- that is what this process is for
  for (const name of names) Object.defineProperty(Object.prototype, name, descriptor)
})
