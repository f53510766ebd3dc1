import diagnostics from 'node:diagnostics_channel'

import { parseUnambiguousObject } from '@portcullis/kit/json'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { checkGuardOptions, isAtOnce } from '../../src/adapter.ts'
import {
  authenticateRequest,
  type AuthError,
  localRevocations,
  type VerifyMessage,
  watchToken,
} from '../../src/index.ts'
import { AuthError as Refusal } from '../../src/refusal/errors.ts'
import { findInternals } from '../../src/verifier/internals.ts'
import { createProvenVerifier } from '../../src/verifier/proven-verifier.ts'
import type { ProvenToken, TokenProver } from '../../src/verifier/token-prover.ts'
import type { ProvenRules } from '../../src/verifier/verifier-options.ts'

const START = 1_795_341_600
const HEADER = Object.freeze({ alg: 'opaque' })

/** A prover that knows one token, and what it says of it. */
function proverOf(claims: object, clock = manualClock(START)) {
  const state = { proven: provenOf(claims), isHeld: true, asked: 0 }
  const prover: TokenProver = {
    recall: (token) => (token === 'known' && state.isHeld ? state.proven : undefined),
    async prove(token) {
      state.asked++
      if (token !== 'known') throw new Refusal('invalid_token', 'inactive')
      return state.proven
    },
    stands: (_token, proven) => proven === state.proven,
    check: () => false,
    late: () => new Refusal('introspection_unavailable', 'timeout'),
    ready: async () => {},
  }
  const create = (rules: Partial<ProvenRules> = {}, changes: Partial<TokenProver> = {}) =>
    createProvenVerifier(
      { ...prover, ...changes },
      {
        issuer: null,
        audience: null,
        requireExpiry: false,
        clock,
        ...rules,
      },
    )
  return { state, create, clock }
}

function provenOf(claims: object): ProvenToken {
  const read = parseUnambiguousObject(Buffer.from(JSON.stringify(claims)))
  if (read === undefined) throw new Error('not readable')
  return { claims: read, header: HEADER }
}

async function refusalOf(verdict: Promise<unknown>): Promise<AuthError> {
  return await verdict.then(
    () => {
      throw new Error('accepted')
    },
    (error: unknown) => error as AuthError, // each test compares its code
  )
}

describe('the claims of a token that no key proves', () => {
  test('are judged: an accepted token has claims, header and text', async () => {
    const auth = await proverOf({ sub: 'ada' }).create().verify('known')
    expect(auth).toEqual({ claims: { sub: 'ada' }, header: HEADER, token: 'known' })
    expect(Object.isFrozen(auth)).toBe(true)
  })

  test.each<[string, object, Partial<ProvenRules>, string]>([
    ['expired', { exp: START - 5 }, {}, 'expired'],
    ['exp as a text', { exp: String(START + 60) }, {}, 'claim'],
    ['exp in milliseconds', { exp: (START + 60) * 1000 }, {}, 'claim'],
    ['nbf ahead', { nbf: START + 6 }, {}, 'not_yet_valid'],
    ['iat ahead', { iat: START + 61 }, {}, 'issued_in_future'],
    ['no iss', {}, { issuer: 'https://a.example' }, 'issuer'],
    ['no aud', {}, { audience: 'api' }, 'audience'],
    ['no exp', {}, { requireExpiry: true }, 'missing_claim'],
    ['another value', { role: 'guest' }, { requiredClaims: { role: 'admin' } }, 'claim'],
    ['cnf that nobody proved', { cnf: { jkt: 'x' } }, {}, 'binding'],
    ['cnf of another kind', { cnf: { kid: 'x' } }, {}, 'binding'],
  ])('%s: refused', async (_, claims, rules, reason) => {
    const error = await refusalOf(proverOf(claims).create(rules).verify('known'))
    expect(error).toMatchObject({ code: 'invalid_token', reason })
  })

  test('bound to a key that was proven: accepted, and the Auth says so', async () => {
    const verifier = proverOf({ cnf: { jkt: 'x' } }).create()
    const auth = await verifier.verify('known', { possession: { jkt: 'x' } })
    expect(auth.possession).toEqual({ jkt: 'x' })
  })

  test('a proof that is remembered expires all the same', async () => {
    const { create, clock } = proverOf({ exp: START + 60 })
    const verifier = create()
    await verifier.verify('known')
    await clock.advance(65)
    expect(await refusalOf(verifier.verify('known'))).toMatchObject({ reason: 'expired' })
  })
})

describe('a token', () => {
  test.each([[undefined], [{}], [['known']]])('that is no text: %j', async (token) => {
    const { create, state } = proverOf({})
    const error = await refusalOf(create().verify(token as unknown as string))
    expect(error).toMatchObject({ reason: 'malformed' })
    expect(state.asked).toBe(0)
  })

  test('that is too long is given to nobody', async () => {
    const { create, state } = proverOf({})
    const verifier = create({ maxTokenSize: 20 }, { recall: failing })
    expect(await refusalOf(verifier.verify('x'.repeat(21)))).toMatchObject({ reason: 'too_large' })
    expect(findInternals(verifier)?.recall('x'.repeat(21))).toBeUndefined()
    expect(state.asked).toBe(0)
  })

  test('that is as long as it may be is judged and recalled', async () => {
    const verifier = proverOf({}).create({ maxTokenSize: 'known'.length })
    await verifier.verify('known')
    expect(findInternals(verifier)?.recall('known')).toBeDefined()
  })
})

test.each<[string | null, boolean]>([
  ['https://a.example', true],
  ['https://b.example', false],
  [null, false],
])('with the issuer %j, whether it checks a certain one: %j', (issuer, checks) => {
  const internals = findInternals(proverOf({}).create({ issuer }))
  expect(internals?.checksIssuer('https://a.example')).toBe(checks)
})

test('verdicts are published, with whether the proof was remembered', async () => {
  const { create, state, clock } = proverOf({ sub: 'ada' })
  const verifier = create()
  await clock.advance(1)
  const messages: VerifyMessage[] = []
  const listen = (message: unknown) => void messages.push(message as VerifyMessage)
  diagnostics.subscribe('portcullis:verify', listen)
  try {
    state.isHeld = false
    await verifier.verify('known')
    state.isHeld = true
    await verifier.verify('known')
    findInternals(verifier)?.recall('known')
    await refusalOf(verifier.verify('other'))
  } finally {
    diagnostics.unsubscribe('portcullis:verify', listen)
  }
  const common = { verifier, duration: 0 }
  expect(messages).toMatchObject([
    { ...common, reason: undefined, remembered: false },
    { ...common, reason: undefined, remembered: true },
    { ...common, reason: undefined, remembered: true },
    { ...common, reason: 'inactive', remembered: false },
  ])
})

describe('a guard', () => {
  test('gets a token that was accepted before at once, and asks for no promise', async () => {
    const { create } = proverOf({ sub: 'ada' })
    const verifier = create()
    const request = { headers: { authorization: 'Bearer known' } }
    const options = checkGuardOptions(verifier, {})
    await authenticateRequest(verifier, request, options, {})
    expect(isAtOnce(authenticateRequest(verifier, request, options, {}))).toBe(true)
  })

  test('has to ask anew for a bound token', async () => {
    const verifier = proverOf({ cnf: { jkt: 'x' } }).create({ confirmation: 'ignore' })
    await verifier.verify('known')
    expect(findInternals(verifier)?.recall('known')).toBeUndefined()
  })

  test('has to ask anew if the proof ends while a schema is asked', async () => {
    const { create, state } = proverOf({ sub: 'ada' })
    let uses = 0
    const validate = (value: unknown) => {
      uses += 1
      if (uses === 3) state.proven = provenOf({ sub: 'ben' })
      return { value }
    }
    const verifier = create({ schema: { '~standard': { version: 1, validate } } })
    await verifier.verify('known')
    expect(findInternals(verifier)?.recall('known')?.claims).toEqual({ sub: 'ada' })
    expect(findInternals(verifier)?.recall('known')).toBeUndefined()
    expect((await verifier.verify('known')).claims).toEqual({ sub: 'ben' })
  })

  test('asks anew once the proof is recalled no more, or the token was revoked', async () => {
    const revocations = localRevocations({ clock: manualClock(START) })
    const { create, state } = proverOf({ iss: 'i', jti: '1', exp: START + 60 })
    const verifier = create({ revocations })
    await verifier.verify('known')
    const recall = findInternals(verifier)?.recall
    expect(recall?.('known')).toBeDefined()
    state.isHeld = false
    expect(recall?.('known')).toBeUndefined()
    state.isHeld = true
    await revocations.revoke({ iss: 'i', jti: '1', exp: START + 60 })
    expect(recall?.('known')).toBeUndefined()
    expect(await refusalOf(verifier.verify('known'))).toMatchObject({ reason: 'revoked' })
  })
})

describe('while a schema takes its time', () => {
  test('a newer proof is judged, and the schema sees its claims', async () => {
    const { create, state } = proverOf({ role: 'admin' })
    const seen: unknown[] = []
    const schema = schemaOf((value) => {
      if (seen.push(value) === 1) state.proven = provenOf({ role: 'guest' })
      return value
    })
    expect((await create({ schema }).verify('known')).claims).toEqual({ role: 'guest' })
    expect(seen).toEqual([{ role: 'admin' }, { role: 'guest' }])
  })

  test('proofs that end each time are given up: there is no verdict', async () => {
    const { create, state } = proverOf({})
    const schema = schemaOf((value) => {
      state.proven = provenOf({})
      return value
    })
    expect(await refusalOf(create({ schema }).verify('known'))).toMatchObject({
      code: 'introspection_unavailable',
    })
  })

  test('a token that expires meanwhile is refused', async () => {
    const { create, clock } = proverOf({ exp: START + 60 })
    const schema = schemaOf(async (value) => {
      await clock.advance(66)
      return value
    })
    expect(await refusalOf(create({ schema }).verify('known'))).toMatchObject({ reason: 'expired' })
  })
})

describe('revocations that answer with a promise', () => {
  const claims = { iss: 'i', jti: '1', exp: START + 60 }

  test('are waited for', async () => {
    const revocations = { statusOf: async () => await Promise.resolve('revoked' as const) }
    const verifier = proverOf(claims).create({ revocations })
    expect(await refusalOf(verifier.verify('known'))).toMatchObject({ reason: 'revoked' })
  })

  test('a newer proof that comes meanwhile is judged', async () => {
    const { create, state } = proverOf({ ...claims, role: 'admin' })
    const revocations = {
      statusOf: async () => {
        if (state.proven.claims['role'] === 'admin') {
          state.proven = provenOf({ ...claims, role: 'guest' })
        }
        return await Promise.resolve('valid' as const)
      },
    }
    const auth = await create({ revocations }).verify('known')
    expect(auth.claims).toEqual({ ...claims, role: 'guest' })
  })
})

test('a proof that nothing was waited for behind is not asked whether it still stands', async () => {
  const verifier = proverOf({ sub: 'ada' }).create({}, { stands: failing })
  expect((await verifier.verify('known')).claims).toEqual({ sub: 'ada' })
})

test('an open connection ends when its token is revoked', async () => {
  const clock = manualClock(START)
  const revocations = localRevocations({ clock })
  const verifier = proverOf({ iss: 'i', jti: '1', exp: START + 60 }, clock).create({ revocations })
  const auth = await verifier.verify('known')
  const ended = new Promise((resolve) => {
    watchToken(verifier, auth, resolve, { clock })
  })
  await revocations.revoke({ iss: 'i', jti: '1', exp: START + 60 })
  expect(await ended).toMatchObject({ reason: 'revoked' })
})

test('ready waits for the prover', async () => {
  const fault = new Error('not yet')
  const verifier = proverOf({}).create({}, { ready: async () => await Promise.reject(fault) })
  await expect(verifier.ready()).rejects.toBe(fault)
})

function failing(): never {
  throw new Error('was asked')
}

function schemaOf(validate: (value: unknown) => unknown) {
  return {
    '~standard': {
      version: 1 as const,
      validate: async (value: unknown) => ({ value: await validate(value) }),
    },
  }
}

test('what is said of a token is no security event, however the token was proven', async () => {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const { create } = proverOf({ sub: 'ada', events })
  const error = await refusalOf(create().verify('known'))
  expect([error.code, error.reason, error.detail]).toEqual([
    'invalid_token',
    'type',
    expect.stringContaining('the claims have events'),
  ])
})
