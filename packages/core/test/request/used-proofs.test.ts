import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { brandedProofs, type DpopProofs } from '../../src/dpop/proof-check.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { authenticateRequest } from '../../src/request/http.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'

const JKT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const verifier = createVerifier(issuer.verifierOptions)
const token = await issuer.token({ boundTo: { jkt: JKT } })
/** Of the same key: what a proof is for has to say that it is not for this one. */
const otherToken = await issuer.token({ boundTo: { jkt: JKT }, claims: { sub: 'another' } })

interface Memory {
  readonly dpop: DpopProofs
  readonly checked: unknown[]
  readonly remembered: string[]
}

async function refuse(): Promise<never> {
  throw new AuthError('invalid_dpop_proof', 'replayed_proof')
}

/** A proof is its own `jti`. Each is good once. */
function createMemory(wait?: () => Promise<void>): Memory {
  const checked: unknown[] = []
  const remembered: string[] = []
  const dpop = brandedProofs({
    algorithms: ['ES256'],
    required: true,
    async check(request) {
      checked.push(request)
      return await Promise.resolve({ jkt: JKT, jti: String(request.proof), expires: Infinity })
    },
    remember({ jti }) {
      if (remembered.includes(jti)) return refuse()
      remembered.push(jti)
      return wait?.()
    },
    nonce: () => undefined,
  })
  return { dpop, checked, remembered }
}

const requestWith = (dpop = 'one') => ({
  method: 'GET',
  url: '/',
  headers: { authorization: `DPoP ${token}`, dpop },
})

async function verdictOf(
  request: ReturnType<typeof requestWith>,
  { dpop }: Memory,
  subject: object = request,
): Promise<string> {
  try {
    await authenticateRequest(verifier, request, { dpop }, subject)
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? error.reason : String(error)
  }
}

const slow = async () => {
  await Promise.resolve()
}

describe.each<[string, (() => Promise<void>) | undefined]>([
  ['that answers at once', undefined],
  ['that takes its time', slow],
])('a memory %s', (_, wait) => {
  test('one request, two guards: its proof is used once', async () => {
    const memory = createMemory(wait)
    const request = requestWith()
    expect(await verdictOf(request, memory)).toBe('accepted')
    expect(await verdictOf(request, memory)).toBe('accepted')
    expect(memory.remembered).toEqual(['one'])
    expect(memory.checked).toHaveLength(1)
  })

  test('one request, two guards at once: the same', async () => {
    const memory = createMemory(wait)
    const request = requestWith()
    const verdicts = [verdictOf(request, memory), verdictOf(request, memory)]
    expect(await Promise.all(verdicts)).toEqual(['accepted', 'accepted'])
    expect(memory.remembered).toEqual(['one'])
  })

  test('one request, two guards with memories of their own, in turn: it is used once in each', async () => {
    const [one, other] = [createMemory(wait), createMemory(wait)]
    const request = requestWith()
    for (const memory of [one, other, one]) {
      expect(await verdictOf(request, memory)).toBe('accepted')
    }
    expect([one.remembered, other.remembered]).toEqual([['one'], ['one']])
  })

  test('a request in the wrapper of another framework: the same', async () => {
    const memory = createMemory(wait)
    const request = requestWith()
    for (const subject of [{ raw: request }, request, { req: request }]) {
      expect(await verdictOf(request, memory, subject)).toBe('accepted')
    }
  })

  test('another request with the same proof is refused, also at once', async () => {
    const memory = createMemory(wait)
    const verdicts = [requestWith(), requestWith()].map((each) => verdictOf(each, memory))
    expect((await Promise.all(verdicts)).toSorted()).toEqual(['accepted', 'replayed_proof'])
    expect(await verdictOf(requestWith(), memory)).toBe('replayed_proof')
  })

  test.each<[string, (request: ReturnType<typeof requestWith>) => void]>([
    ['method', (request) => (request.method = 'PUT')],
    ['path', (request) => (request.url = '/other')],
    ['token', ({ headers }) => (headers.authorization = `DPoP ${otherToken}`)],
  ])('the %s of a request has changed: its proof is checked again', async (_name, change) => {
    const memory = createMemory(wait)
    const request = requestWith()
    expect(await verdictOf(request, memory)).toBe('accepted')
    change(request)
    expect(await verdictOf(request, memory)).toBe('replayed_proof')
    expect(memory.checked).toHaveLength(2)
  })

  test('the proof of a request has changed: it is another one', async () => {
    const memory = createMemory(wait)
    const request = requestWith()
    expect(await verdictOf(request, memory)).toBe('accepted')
    request.headers.dpop = 'two'
    expect(await verdictOf(request, memory)).toBe('accepted')
    expect(memory.remembered).toEqual(['one', 'two'])
  })

  test('a second memory is asked as well', async () => {
    const [first, second] = [createMemory(wait), createMemory(wait)]
    const request = requestWith()
    expect(await verdictOf(request, first)).toBe('accepted')
    expect(await verdictOf(request, second)).toBe('accepted')
    expect(second.remembered).toEqual(['one'])
  })
})

test('a memory that refuses: each guard refuses, those that wait too, and the next one asks again', async () => {
  const memory = createMemory(async () => {
    await slow()
    throw new AuthError('replay_unavailable', 'unreachable')
  })
  const request = requestWith()
  const verdicts = [verdictOf(request, memory), verdictOf(request, memory)]
  expect(await Promise.all(verdicts)).toEqual(['unreachable', 'unreachable'])
  expect(await verdictOf(request, memory)).toBe('replayed_proof')
})

test.each([undefined, null, {}, { jkt: undefined }, { jkt: '' }, { jkt: 7 }, 'jkt'])(
  'a check of your own that answers %j proves nothing',
  async (answer) => {
    const { dpop, remembered } = createMemory()
    const unbound = await issuer.token()
    for (const each of [token, unbound]) {
      const request = { ...requestWith(), headers: { authorization: `DPoP ${each}`, dpop: 'one' } }
      const guard = { dpop: { ...dpop, check: async () => answer as never } }
      await expect(authenticateRequest(verifier, request, guard)).rejects.toMatchObject({
        reason: 'binding',
      })
    }
    expect(remembered).toEqual([])
  },
)
