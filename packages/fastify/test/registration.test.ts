import { createVerifier, localKeys, scope } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import fastify5, { type FastifyInstance } from 'fastify'
import fastify4 from 'fastify4'
import { describe, expect, test } from 'vitest'

import { authenticate, authorize } from '../src/index.ts'

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const verifier = createVerifier({
  keys: localKeys(issuer.publicJwk),
  issuer: null,
  audience: null,
  algorithms: ['ES256'],
})
const bearer = await issuer.bearer({ claims: { scope: 'read' } })
const WRITE = 'write register(authenticate(verifier, options))'

/** What plain JavaScript can write, and the types refuse. */
type Untyped = never

describe.each<[string, () => FastifyInstance]>([
  ['Fastify 5', () => fastify5()],
  // What these tests use, both majors have alike, with types of their own.
  ['Fastify 4', () => fastify4() as unknown as FastifyInstance],
])('%s', (_name, createApp) => {
  test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler', 'onSend'] as const)(
    'the plugin as a hook, %s: no request passes, and each is told what to write',
    async (name) => {
      const app = createApp()
      app.addHook(name, authenticate(verifier) as Untyped)
      app.get('/', () => 'open')
      await expectFault(app, `authenticate(verifier) is a plugin and no hook: ${WRITE}`)
    },
  )

  test.each(['onRequest', 'preHandler'] as const)(
    'the plugin as a hook of one route, %s, alone and in a list: the same',
    async (name) => {
      for (const hook of [authenticate(verifier), [authenticate(verifier)]]) {
        const app = createApp()
        app.get('/', { [name]: hook as Untyped }, () => 'open')
        await expectFault(app, `authenticate(verifier) is a plugin and no hook: ${WRITE}`)
      }
    },
  )

  test.each(['onReady', 'onListen'] as const)(
    'the plugin as a hook, %s: Fastify refuses it at boot',
    (name) => {
      expect(() => createApp().addHook(name, authenticate(verifier) as Untyped)).toThrow(/[Hh]ook/)
    },
  )

  test('the plugin as a hook, onRegister: a TypeError at boot, with the first nested scope', async () => {
    const message = `authenticate(verifier) is a plugin and no hook for onRegister: ${WRITE}`
    const app = createApp()
    app.addHook('onRegister', authenticate(verifier))
    app.get('/', () => 'open')
    app.register(async (nested) => {
      await Promise.resolve()
      nested.get('/nested', () => 'nested')
    })
    await expect(app.ready()).rejects.toThrow(new TypeError(message))
    const awaited = createApp()
    awaited.addHook('onRegister', authenticate(verifier))
    await expect(
      (async () => await awaited.register(async () => await Promise.resolve()))(),
    ).rejects.toThrow(new TypeError(message))
  })

  test('a plugin that calls the guard with its scope is guarded', async () => {
    const app = createApp()
    app.register(async (nested) => {
      await authenticate(verifier)(nested, {})
      nested.get('/', () => 'guarded')
    })
    expect((await app.inject('/')).statusCode).toBe(401)
    expect((await app.inject({ url: '/', headers: bearer })).statusCode).toBe(200)
  })

  test.each<[string, object]>([
    ['optional', { optional: true }],
    ['property', { prefix: '/v1', property: 'user' }],
    ['optinal', { optinal: true }],
  ])('an option given to register, %s: a TypeError at boot', async (name, options) => {
    const message = `the guard takes no options of register, such as "${name}": ${WRITE}`
    const app = createApp()
    app.register(authenticate(verifier), options)
    await expect(app.ready()).rejects.toThrow(new TypeError(message))
    const nested = createApp()
    nested.register(async (scoped) => {
      await scoped.register(authenticate(verifier), () => options)
    })
    await expect(nested.ready()).rejects.toThrow(new TypeError(message))
  })

  test('options of register that are for Fastify itself are taken', async () => {
    const app = createApp()
    const options = { prefix: '/v1', encapsulate: true, logLevel: 'warn' } as const
    await app.register(authenticate(verifier), options)
    app.get('/', () => 'open')
    expect((await app.inject('/')).statusCode).toBe(401)
    expect((await app.inject({ url: '/', headers: bearer })).statusCode).toBe(200)
  })

  test.each<[string, object | undefined]>([
    ['with options', { optional: true }],
    ['with a verifier among them', { verifier }],
    ['without', undefined],
  ])('authenticate itself is registered, %s: a TypeError at boot', async (_title, options) => {
    const message = `authenticate got a Fastify instance in place of a verifier: ${WRITE}`
    const app = createApp()
    // A guard that took the instance for a verifier would be a guard of nothing.
    app.decorate('verify', async () => await Promise.resolve())
    app.register(authenticate as Untyped, options as Untyped)
    await expect(app.ready()).rejects.toThrow(new TypeError(message))
    expect(() => authenticate(app as Untyped)).toThrow(new TypeError(message))
  })

  test('authenticate itself as a hook: no request passes, and each is told what to write', async () => {
    const app = createApp()
    app.addHook('onRequest', authenticate as Untyped)
    app.get('/', () => 'open')
    await expectFault(app, 'must be a verifier: write authenticate(verifier, options)')
  })

  test('authorize itself as a hook: the same', async () => {
    const app = createApp()
    app.get('/', { onRequest: authorize as Untyped }, () => 'open')
    await expectFault(app, "must be a requirement, as in authorize(scope('read'))")
  })

  test('authorize(...) as a plugin: a TypeError at boot', async () => {
    const app = createApp()
    app.register(authorize(scope('read')) as Untyped)
    await expect(app.ready()).rejects.toThrow(
      new TypeError(
        "authorize(...) is a hook and no plugin: write addHook('onRequest', authorize(...))",
      ),
    )
  })
})

/** Nobody gets through, not even with a token, and the answer says what is wrong. */
async function expectFault(app: FastifyInstance, message: string): Promise<void> {
  for (const headers of [{}, bearer]) {
    const answer = await app.inject({ url: '/', headers })
    expect(answer.statusCode).toBe(500)
    expect(answer.json<{ message: string }>().message).toContain(message)
  }
}
