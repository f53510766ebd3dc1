import { spawnSync } from 'node:child_process'

import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, expectTypeOf, test } from 'vitest'

import {
  type Auth,
  authenticateRequest,
  type Claims,
  createVerifier,
  getAuth,
  localKeys,
  type Schema,
  scope,
} from '../../src/index.ts'

interface User {
  id: string
  roles: string[]
}

const issuer = await createTestIssuer()
const base = { keys: localKeys(issuer.publicJwk), issuer: null, audience: null }

/** What a validator library makes, by hand. */
const user: Schema<User> = {
  '~standard': {
    version: 1,
    validate(value) {
      const { sub, roles } = value as Claims & { roles?: unknown }
      return typeof sub === 'string' && Array.isArray(roles)
        ? { value: { id: sub, roles: roles.map(String) } }
        : { issues: [{ message: 'canary: not a user' }] }
    },
  },
}

const verifier = createVerifier({ ...base, schema: user })
const good = await issuer.token({ claims: { sub: 'ada', roles: ['admin'] } })
const bad = await issuer.token({ claims: { sub: 7 } })

test('what the schema makes of the claims is what the token proves, with its type', async () => {
  const auth = await verifier.verify(good)
  expect(auth.claims).toEqual({ id: 'ada', roles: ['admin'] })
  expectTypeOf(auth).toEqualTypeOf<Auth<User>>()
})

test('it is neither frozen nor shared', async () => {
  const [one, other] = await Promise.all([verifier.verify(good), verifier.verify(good)])
  one.claims.roles.push('guest')
  expect(other.claims.roles).toEqual(['admin'])
})

test('claims that it refuses are refused, and only the cause says why', async () => {
  const error: unknown = await verifier.verify(bad).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'invalid_token', reason: 'claim', status: 401 })
  expect(error).toMatchObject({ cause: [{ message: 'canary: not a user' }] })
  expect(JSON.stringify(error)).not.toContain('canary')
})

test("a schema that hangs is waited for until the caller's signal ends it", async () => {
  const hanging: Schema<unknown> = {
    '~standard': { version: 1, validate: async () => await new Promise<never>(() => {}) },
  }
  const controller = new AbortController()
  const { signal } = controller
  const refused = createVerifier({ ...base, schema: hanging }).verify(good, { signal })
  setImmediate(() => {
    controller.abort(new Error('gone'))
  })
  await expect(refused).rejects.toThrow('gone')
})

test('it may be asynchronous', async () => {
  const later: Schema<string> = {
    '~standard': {
      version: 1,
      validate: async (value) => await Promise.resolve({ value: String((value as Claims).sub) }),
    },
  }
  const { claims } = await createVerifier({ ...base, schema: later }).verify(good)
  expect(claims).toBe('ada')
})

const NO_RESULT = 'schema: its validate must return { value } or { issues }'

/** As an instance of a class that has these members. */
function classOf(members: object): object {
  return Object.create(members) as object
}

describe('an answer of another shape lets nobody in: a TypeError', () => {
  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['false', false],
    ['true', true],
    ['a number', 5],
    ['a text', 'value'],
    ['an empty object', {}],
    ['what validators call a result', { success: true, data: { sub: 'ada' } }],
    ['what they call a failure', { success: false }],
    ['the claims themselves', { sub: 'ada' }],
    ['a list', [{ sub: 'ada' }]],
    ['an object without a prototype', Object.create(null)],
    ['a value without its name', { Value: 1 }],
  ])('%s', async (_title, answer) => {
    for (const validate of [() => answer, async () => await Promise.resolve(answer)]) {
      const schema = { '~standard': { version: 1, validate } } as never
      const verdict = createVerifier({ ...base, schema }).verify(good)
      await expect(verdict).rejects.toThrow(NO_RESULT)
      await expect(verdict).rejects.toBeInstanceOf(TypeError)
    }
  })

  test.each<[string, unknown, unknown]>([
    ['a value', { value: 7 }, 7],
    ['a value that is undefined', { value: undefined }, undefined],
    ['a value beside issues that are undefined', { value: 7, issues: undefined }, 7],
    ['a value of its class', classOf({ value: 7 }), 7],
    ['a value of the class of its class', classOf(classOf({ value: 7 })), 7],
    ['a value without a prototype', Object.assign(Object.create(null) as object, { value: 7 }), 7],
  ])('%s is one', async (_title, answer, output) => {
    const schema = { '~standard': { version: 1, validate: () => answer } } as never
    expect((await createVerifier({ ...base, schema }).verify(good)).claims).toBe(output)
  })

  test('issues of its class refuse', async () => {
    const answer = classOf({ issues: [] })
    const schema = { '~standard': { version: 1, validate: () => answer } } as never
    const verdict = createVerifier({ ...base, schema }).verify(good)
    await expect(verdict).rejects.toMatchObject({ reason: 'claim' })
  })
})

test('it never sees the claims of a token that is refused otherwise', async () => {
  const seen: unknown[] = []
  const spy: Schema<unknown> = {
    '~standard': {
      version: 1,
      validate(value) {
        seen.push(value)
        return { value }
      },
    },
  }
  const strict = createVerifier({ ...base, schema: spy })
  await expect(strict.verify(await issuer.token({ expiresIn: -60 }))).rejects.toMatchObject({
    reason: 'expired',
  })
  await expect(strict.verify(`${good.slice(0, -8)}AAAAAAAA`)).rejects.toMatchObject({
    reason: 'signature',
  })
  expect(seen).toEqual([])
})

test('a schema that throws is a fault of the application, not a refusal', async () => {
  const faulty: Schema<unknown> = {
    '~standard': {
      version: 1,
      validate() {
        throw new Error('a fault')
      },
    },
  }
  await expect(createVerifier({ ...base, schema: faulty }).verify(good)).rejects.toThrow('a fault')
})

/** A verifier whose schema waits for `gate.opens`. */
function waiting(from: typeof issuer) {
  const gate = { opens: Promise.resolve() }
  const schema: Schema<object> = {
    '~standard': {
      version: 1,
      async validate() {
        await gate.opens
        return { value: {} }
      },
    },
  }
  return { gate, slow: createVerifier({ ...from.verifierOptions, schema }) }
}

/** A promise that is resolved from outside. */
function closedGate() {
  const events = new EventTarget()
  const opens = new Promise<void>((resolve) => {
    events.addEventListener('open', () => {
      resolve()
    })
  })
  return { opens, open: () => events.dispatchEvent(new Event('open')) }
}

describe('a schema that takes its time', () => {
  test.each([
    ['of a new token', false],
    ['of one that is remembered', true],
  ])('the key %s leaves meanwhile: the token is refused', async (_title, isKnown) => {
    const clock = manualClock()
    const rotating = await createTestIssuer({ clock })
    const token = await rotating.token()
    const { gate, slow } = waiting(rotating)
    if (isKnown) await slow.verify(token)
    const { open, opens } = closedGate()
    gate.opens = opens
    const verdict = slow.verify(token).catch((error: unknown) => error)
    await clock.advance(2)
    await rotating.rotate()
    await rotating.verifierOptions.keys.refresh()
    open()
    expect(await verdict).toMatchObject({ code: 'invalid_token', reason: 'signature' })
  })

  test('the token expires meanwhile: it is refused', async () => {
    const clock = manualClock()
    const brief = await createTestIssuer({ clock, lifetime: 10 })
    const { gate, slow } = waiting(brief)
    const { open, opens } = closedGate()
    gate.opens = opens
    const verdict = slow.verify(await brief.token()).catch((error: unknown) => error)
    await clock.advance(20)
    open()
    expect(await verdict).toMatchObject({ reason: 'expired' })
  })
})

describe('behind a guard', () => {
  test('getAuth with the verifier infers the type', async () => {
    const request = { headers: { authorization: `Bearer ${good}` } }
    await authenticateRequest(verifier, request, {}, request)
    const { claims } = getAuth(request, verifier)
    expectTypeOf(claims).toEqualTypeOf<User>()
    expect(claims.id).toBe('ada')
  })

  test.each([null, 'text', { id: 'ada' }])(
    'a scope that the schema dropped is not granted: %j',
    async (claims) => {
      const auth = { claims, header: { alg: 'RS512' }, token: 'a.b.c' }
      expect(await scope('read').isMetBy(auth as unknown as Auth)).toBe(false)
    },
  )
})

test.each([{}, { '~standard': {} }, () => true, 'user', null])(
  '%o is no schema: TypeError at start-up',
  (wrong) => {
    expect(() => createVerifier({ ...base, schema: wrong as unknown as Schema<User> })).toThrow(
      /schema must be a validator of the Standard Schema specification/,
    )
  },
)

test('what somebody has put on Object.prototype is no answer of a schema', () => {
  // In a process of its own, which it spoils.
  const code = `
    const { applySchema } = await import(${JSON.stringify(new URL('../../src/claims/schema.ts', import.meta.url).href)})
    Object.prototype.value = 'polluted'
    const schema = { '~standard': { version: 1, validate: () => ({ success: false }) } }
    const verdict = await applySchema(schema, { claims: {} }).catch((error) => error)
    delete Object.prototype.value
    process.stdout.write(String(verdict))`
  const { stdout } = spawnSync(
    process.execPath,
    ['--conditions=@portcullis/source', '--input-type=module', '--eval', code],
    {
      encoding: 'utf8',
    },
  )
  expect(stdout).toContain(`TypeError: ${NO_RESULT}`)
})
