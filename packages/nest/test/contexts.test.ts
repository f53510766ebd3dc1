import { type ExecutionContext, Get } from '@nestjs/common'
import { authenticateRequest, scope } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import {
  AuthException,
  findAuth,
  getAuth,
  PortcullisGuard,
  Public,
  Requires,
} from '../src/index.ts'
import { good, verifier } from './app.ts'

class Handlers {
  @Get()
  handle(): void {}
  open(): void {}
  required(): void {}
}

function decorate(name: keyof Handlers, decorator: ReturnType<typeof Public>): void {
  decorator(Handlers.prototype, name, Object.getOwnPropertyDescriptor(Handlers.prototype, name))
}
decorate('open', Public())
decorate('required', Requires(scope('write')))

/** What decorators have put on a handler. */
function guardsOf(name: keyof Handlers): [PortcullisGuard] {
  const handler = Reflect.get(Handlers.prototype, name) as object
  return Reflect.getMetadata('__guards__', handler) as [PortcullisGuard]
}

/** What Nest hands to a guard. */
function contextOf(
  type: string,
  args: readonly unknown[],
  name: keyof Handlers = 'handle',
): ExecutionContext {
  const context = {
    getType: () => type,
    getClass: () => Handlers,
    getHandler: (): unknown => Reflect.get(Handlers.prototype, name),
    getArgs: () => args,
    getArgByIndex: (at: number) => args[at],
    switchToHttp: () => ({ getRequest: () => args[0], getResponse: () => args[1] }),
  }
  return context as unknown as ExecutionContext
}

const requestWith = (headers: object) => ({ headers, rawHeaders: [] })
const resolver = (context: unknown, name?: keyof Handlers) =>
  contextOf('graphql', [undefined, {}, context, {}], name)

describe.each(['ws', 'rpc', 'telegraf'])('a handler of type %s', (type) => {
  const guard = new PortcullisGuard({ verifier })
  const client = requestWith(good)

  test('is an error that names it and what to do, never a pass', async () => {
    await expect(guard.canActivate(contextOf(type, [client, {}]))).rejects.toThrow(
      new TypeError(
        `@portcullis/nest guards HTTP handlers and GraphQL resolvers, and Handlers.handle is of type "${type}": decorate it with @Public(), and call verifier.verify(token) there`,
      ),
    )
  })

  test('passes if it is public', async () => {
    expect(await guard.canActivate(contextOf(type, [client, {}], 'open'))).toBe(true)
  })
})

describe('a GraphQL resolver', () => {
  const guard = new PortcullisGuard({ verifier })

  test.each(['req', 'request'])('is guarded through %s of the context', async (name) => {
    const incoming = requestWith(good)
    expect(await guard.canActivate(resolver({ [name]: incoming }))).toBe(true)
    expect(getAuth(incoming).claims.sub).toBe('ada')
  })

  test('is guarded through the request of Fastify', async () => {
    const incoming = { raw: requestWith(good), headers: {} }
    expect(await guard.canActivate(resolver({ req: incoming }))).toBe(true)
    expect(getAuth(incoming).claims.sub).toBe('ada')
  })

  test('is guarded through a Request of the platform, as Yoga has it', async () => {
    const incoming = new Request('https://api.test/graphql', { method: 'POST', headers: good })
    expect(await guard.canActivate(resolver({ request: incoming }))).toBe(true)
    expect(getAuth(incoming).claims.sub).toBe('ada')
    expect(Reflect.get(incoming, 'auth')).toBe(getAuth(incoming))
    const [requirement] = guardsOf('required')
    await expect(
      requirement.canActivate(resolver({ request: incoming }, 'required')),
    ).rejects.toThrow('The access token lacks a required scope')
  })

  test.each<[title: string, headers: [string, string][], message: string]>([
    ['no token', [], 'An access token is required'],
    ['a forged token', [['authorization', 'Bearer a.b.c']], 'The access token is not valid'],
    [
      'two tokens',
      ['Bearer a.b.c', 'Bearer d.e.f'].map((value) => ['authorization', value]),
      'The request must have one Authorization header, and not more than one DPoP header',
    ],
  ])('of a Request of the platform with %s is refused', async (_title, headers, message) => {
    const incoming = new Request('https://api.test/graphql', { headers })
    await expect(guard.canActivate(resolver({ request: incoming }))).rejects.toThrow(message)
    expect(() => findAuth(incoming)).toThrow(TypeError)
  })

  test('is refused with an exception, and no response is touched', async () => {
    const refused = guard.canActivate(resolver({ req: requestWith({}), res: null }))
    const failure: unknown = await Promise.resolve(refused).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(AuthException)
    expect(failure).toMatchObject({ message: 'An access token is required' })
    expect(Reflect.get(Object(failure), 'extensions')).toEqual({
      code: 'UNAUTHENTICATED',
      error: 'missing_token',
      challenge: 'Bearer realm="api"',
    })
  })

  test.each([
    ['without a context', undefined, /a GraphQL resolver without a context/],
    ['whose context has no request', {}, /the context of GraphQL has no req: return \{ req \}/],
    ['whose context inherits one', Object.create({ req: requestWith(good) }), /has no req/],
  ])('%s: TypeError', async (_title, context, message) => {
    await expect(guard.canActivate(resolver(context))).rejects.toThrow(message)
  })

  test('many resolvers of one operation: one verification, and one refusal', async () => {
    let verified = 0
    const refusals: unknown[] = []
    const counting = {
      ...verifier,
      verify: async (token: string) => {
        verified += 1
        return await verifier.verify(token)
      },
    }
    const counted = new PortcullisGuard({
      verifier: counting,
      onRefusal: (error) => refusals.push(error),
    })
    const fields = async (context: object) =>
      await Promise.allSettled(
        Array.from({ length: 1000 }, async () => await counted.canActivate(resolver(context))),
      )
    const bad = { req: requestWith({ authorization: 'Bearer a.b.c' }) }
    const outcomes = [...(await fields(bad)), ...(await fields(bad))] // those of a mutation come one by one
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect([verified, refusals.length]).toEqual([1, 1])
    const accepted = await fields({ req: requestWith(good) })
    expect(accepted.every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(verified).toBe(2)
  })

  test('the next operation of one connection is judged anew', async () => {
    const incoming = requestWith(good)
    await guard.canActivate(resolver({ req: incoming }))
    incoming.headers = {}
    await expect(guard.canActivate(resolver({ req: incoming }))).rejects.toThrow(AuthException)
  })

  test('@Requires() holds there', async () => {
    const context = { req: requestWith(good) }
    const [requirement] = guardsOf('required')
    await expect(requirement.canActivate(resolver(context, 'required'))).rejects.toThrow(
      /^@Requires\(\): no guard has seen the request/,
    )
    await guard.canActivate(resolver(context, 'required'))
    await expect(requirement.canActivate(resolver(context, 'required'))).rejects.toThrow(
      'The access token lacks a required scope',
    )
  })
})

describe('a request over HTTP', () => {
  test('is admitted at once with a token that the verifier remembers, and refused later', async () => {
    const guard = new PortcullisGuard({ verifier })
    const ask = (headers: object) =>
      guard.canActivate(contextOf('http', [requestWith(headers), { setHeader: () => {} }]))
    await ask(good)
    expect(ask(good)).toBe(true)
    await expect(ask({})).rejects.toThrow(AuthException)
    await expect(ask({ authorization: 'Bearer a.b.c' })).rejects.toThrow(AuthException)
  })

  test('that no PortcullisGuard has seen: a requirement that a subclass has lost is noticed by one of its class', async () => {
    class Base {
      handle(): void {}
    }
    const { handle } = Object.getOwnPropertyDescriptors(Base.prototype)
    Requires(scope('write'))(Base.prototype, 'handle', handle)
    class Derived extends Base {
      @Get()
      override handle(): void {}
    }
    Requires(scope('read'))(Derived)
    const request = requestWith(good)
    await authenticateRequest(verifier, request, {}, request)
    const context = Object.assign(contextOf('http', [request, {}]), {
      getClass: () => Derived,
      getHandler: (): unknown => Reflect.get(Derived.prototype, 'handle'),
    })
    const [requirement] = Reflect.getMetadata('__guards__', Derived) as [PortcullisGuard]
    await expect(requirement.canActivate(context)).rejects.toThrow(
      /^@Requires\(\) is lost, since another decorator or a subclass replaces the method/,
    )
  })

  test('whose response has been sent already is refused without touching it', async () => {
    const guard = new PortcullisGuard({ verifier, respond: 'problem' })
    const answered = { headersSent: true, setHeader: fail, end: fail }
    const reply = { raw: { headersSent: false }, sent: true, headers: fail, send: fail }
    const request = requestWith({})
    for (const context of [
      contextOf('http', [request, answered]),
      contextOf('http', [{ raw: request }, reply]),
    ]) {
      const failure: unknown = await Promise.resolve(guard.canActivate(context)).catch(
        (error: unknown) => error,
      )
      expect(failure).toBeInstanceOf(AuthException)
      expect(failure).not.toHaveProperty('extensions')
    }
  })

  test('that is frozen cannot show its proof: TypeError, and no pass', async () => {
    const guard = new PortcullisGuard({ verifier })
    const frozen = Object.freeze(requestWith(good))
    await expect(guard.canActivate(contextOf('http', [frozen, {}]))).rejects.toThrow(
      new TypeError('PortcullisGuard: cannot set request.auth'),
    )
  })
})

function fail(): never {
  throw new Error('touched')
}
