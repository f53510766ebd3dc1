import { type CanActivate, type ExecutionContext, SetMetadata } from '@nestjs/common'
import { check, createVerifier, dpopProofs, scope } from '@portcullis/core'
import { dpopClient, manualClock } from '@portcullis/testing'
import { beforeEach, describe, expect, test } from 'vitest'

import { getAuth, PortcullisGuard, Requires } from '../src/index.ts'
import { good, issuer, verifier } from './app.ts'

// The resolvers of an operation share a context. A client may ask for any number of them.

const counted: unknown[] = []
class Resolvers {
  @SetMetadata('a decorator of GraphQL', true)
  things(): void {}

  @Requires(scope('write'))
  written(): void {}

  @Requires(check(() => counted.push('checked') > 0 && Promise.resolve(false)))
  checked(): void {}
}

function contextOf(operation: object, name: keyof Resolvers): ExecutionContext {
  const context = {
    getType: () => 'graphql',
    getClass: () => Resolvers,
    getHandler: () => Reflect.get(Resolvers.prototype, name),
    getArgByIndex: (at: number) => [undefined, {}, operation, {}][at],
  }
  return context as unknown as ExecutionContext
}

/** The guards that Nest would run. */
function guardsOf(name: keyof Resolvers): CanActivate[] {
  const handler = Reflect.get(Resolvers.prototype, name) as object
  return (Reflect.getMetadata('__guards__', handler) as CanActivate[] | undefined) ?? []
}

const requestWith = (headers: object) => ({ headers, rawHeaders: [] })
const forged = { authorization: 'Bearer a.b.c' }

const refusals: unknown[] = []
const onRefusal = ({ reason }: { reason: string }): unknown => refusals.push(reason)
let guard: PortcullisGuard

beforeEach(() => {
  refusals.length = 0
  counted.length = 0
  guard = new PortcullisGuard({ verifier, onRefusal, optional: true })
})

async function resolve(operation: object, name: keyof Resolvers = 'things'): Promise<string> {
  const context = contextOf(operation, name)
  try {
    for (const each of [guard, ...guardsOf(name)]) await each.canActivate(context)
    return 'passed'
  } catch (error) {
    return (error as Error).message
  }
}

/** Fields of a query, which are resolved together, and fields of a mutation, which come one by one. */
async function manyTimes(operation: object, name?: keyof Resolvers): Promise<Set<string>> {
  const outcomes = new Set(
    await Promise.all(Array.from({ length: 1000 }, async () => await resolve(operation, name))),
  )
  for (let at = 0; at < 100; at += 1) outcomes.add(await resolve(operation, name))
  return outcomes
}

const REFUSED = 'The access token is not valid'
const LACKING = 'The access token lacks a required scope'

describe('a context that several requests share', () => {
  test('an accepted token opens it for its own request alone', async () => {
    guard = new PortcullisGuard({ verifier })
    const shared = { req: requestWith(good) }
    expect(await resolve(shared)).toBe('passed')
    shared.req = requestWith({})
    expect(await resolve(shared)).toBe('An access token is required')
  })

  test('a refused token closes it for its own request alone', async () => {
    const shared = { req: requestWith(forged) }
    expect(await resolve(shared)).toBe(REFUSED)
    shared.req = requestWith(good)
    expect(await resolve(shared, 'written')).toBe(LACKING)
    expect(getAuth(shared.req).claims.sub).toBe('ada')
    shared.req = requestWith(await issuer.bearer({ claims: { scope: 'write' } }))
    expect(await resolve(shared, 'written')).toBe('passed')
    expect(await resolve(shared)).toBe('passed')
  })

  test('requests whose tokens are looked at together do not mix', async () => {
    const shared = { req: requestWith(await issuer.bearer({ claims: { scope: 'read' } })) }
    const first = resolve(shared)
    shared.req = requestWith(forged)
    const others = [resolve(shared), resolve(shared)]
    expect(await first).toBe('passed')
    expect(await Promise.all(others)).toEqual([REFUSED, REFUSED])
    // The first outcome came in between, and has not made this one forgotten.
    expect(await resolve(shared)).toBe(REFUSED)
    expect(refusals).toEqual(['malformed'])
  })
})

describe('one operation', () => {
  test('a bad token is verified and reported once', async () => {
    expect(await manyTimes({ req: requestWith(forged) })).toEqual(new Set([REFUSED]))
    expect(refusals).toEqual(['malformed'])
  })

  test('@Requires() refuses and reports once, each for itself', async () => {
    const operation = { req: requestWith(good) }
    expect(await manyTimes(operation, 'written')).toEqual(new Set([LACKING]))
    expect(refusals).toEqual(['scope'])
    expect(await manyTimes(operation, 'checked')).toHaveLength(1)
    expect(counted).toEqual(['checked'])
    expect(refusals).toEqual(['scope', 'check'])
    expect(await manyTimes(operation)).toEqual(new Set(['passed']))
  })

  test('@Requires() reports an anonymous one once, and the next one again', async () => {
    for (const expected of [1, 2]) {
      const operation = { req: requestWith({}) }
      expect(await manyTimes(operation, 'written')).toEqual(
        new Set(['An access token is required']),
      )
      expect(refusals).toHaveLength(expected)
    }
  })

  test('a token that expires during it is refused from then on, and reported once', async () => {
    const clock = manualClock(Date.now() / 1000)
    const expiring = createVerifier({ ...issuer.verifierOptions, clock })
    guard = new PortcullisGuard({ verifier: expiring, onRefusal })
    const operation = { req: requestWith(await issuer.bearer()) }
    expect(await manyTimes(operation)).toEqual(new Set(['passed']))
    await clock.advance(7200)
    expect(await manyTimes(operation)).toHaveLength(1)
    expect(refusals).toEqual(['expired'])
  })
})

test('operations over one socket, which share its request, are judged each for itself', async () => {
  const clock = manualClock(Date.now() / 1000)
  const expiring = createVerifier({ ...issuer.verifierOptions, clock })
  guard = new PortcullisGuard({ verifier: expiring, onRefusal })
  const req = requestWith(await issuer.bearer())
  expect(await resolve({ req })).toBe('passed')
  await clock.advance(7200)
  expect(await resolve({ req })).not.toBe('passed')
  expect(await resolve({ req })).not.toBe('passed')
  expect(refusals).toEqual(['expired', 'expired'])
})

test('the fields of a mutation use one proof together, and no other request can', async () => {
  const client = await dpopClient()
  const token = await issuer.token({ boundTo: client })
  const url = 'https://api.test/graphql'
  const headers = await client.headers({ method: 'POST', url, token })
  guard = new PortcullisGuard({ verifier, dpop: dpopProofs({ origin: 'https://api.test' }) })
  const parts = { method: 'POST', url: '/graphql' }
  const operation = { req: { ...requestWith(headers), ...parts } }
  expect(await manyTimes(operation)).toEqual(new Set(['passed']))
  const replayed = { req: { ...requestWith(headers), ...parts } }
  expect(await resolve(replayed)).toBe('The DPoP proof has been used before')
})
