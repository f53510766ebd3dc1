import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import {
  createTestIssuer,
  type ManualClock,
  manualClock,
  type TestIssuer,
} from '@portcullis/testing'
import { beforeEach, describe, expect, test } from 'vitest'

import type { Auth, Possession } from '../../src/claims/auth.ts'
import type { Schema } from '../../src/claims/schema.ts'
import { explain } from '../../src/explain/explain.ts'
import { byIssuer } from '../../src/issuers/by-issuer.ts'
import { brandedMutualTls } from '../../src/possession/mutual-tls.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import type { VerifyMessage } from '../../src/report/diagnostics.ts'
import { checkGuardOptions } from '../../src/request/guard-options.ts'
import { authenticateRequest } from '../../src/request/http.ts'
import { localRevocations } from '../../src/revocation/local-revocations.ts'
import type { Revocations, RevocationStatus } from '../../src/revocation/revocations.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'
import { findInternals } from '../../src/verifier/internals.ts'
import type { VerifierOptions } from '../../src/verifier/verifier-options.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'
import { watchToken } from '../../src/verifier/watch-token.ts'

const NAME = 'https://auth.test'
const JKT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'
const CERTIFICATE = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0'

let clock: ManualClock
let issuer: TestIssuer

beforeEach(async () => {
  clock = manualClock()
  issuer = await createTestIssuer({ clock, algorithm: 'ES256', issuer: NAME })
})

const verifierWith = (more: Partial<VerifierOptions> = {}): Verifier =>
  createVerifier({ ...issuer.verifierOptions, ...more })

const bound = async (cnf: unknown): Promise<string> => await issuer.token({ claims: { cnf } })

/** What the verifier answers at once, without `verify`. */
function recalled(verifier: Verifier, token: string) {
  const internals = findInternals(verifier)
  if (internals === undefined) throw new Error('the verifier is none of ours')
  return internals.recall(token)
}

async function verdictOf(verdict: unknown): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
  }
}

const REFUSED = 'invalid_token binding'
const key = { jkt: JKT }
const certificate = { x5tS256: CERTIFICATE }
const both = { ...key, ...certificate }

const proven = async (cnf: unknown, possession: Possession, more?: Partial<VerifierOptions>) => {
  const token = cnf === undefined ? await issuer.token() : await bound(cnf)
  return await verifierWith(more).verify(token, { possession })
}

const several = () => byIssuer({ [NAME]: verifierWith() })
const found = () => {
  const verifier = verifierWith({ issuer: NAME })
  return byIssuer(() => verifier)
}

const schema = (change: (claims: object) => object): Schema<object> => ({
  '~standard': {
    version: 1,
    validate: (claims) => ({ value: change(claims as object) }),
  },
})

type Row = readonly [
  title: string,
  cnf: unknown,
  possession: unknown,
  required: string,
  ignored: string,
]

/** What is compared, without `cnf` where it is `undefined`. */
const ROWS: readonly Row[] = [
  ['an unbound token, nothing proven', undefined, undefined, 'accepted', 'accepted'],
  ['an unbound token with a proof', undefined, key, REFUSED, REFUSED],
  ['an unbound token with a certificate', undefined, certificate, 'accepted', 'accepted'],
  ['an unbound token with both', undefined, both, REFUSED, REFUSED],
  ['bound by jkt, nothing proven', key, undefined, REFUSED, 'accepted'],
  ['bound by jkt, an empty possession', key, {}, REFUSED, 'accepted'],
  ['bound by jkt, with its proof', key, key, 'accepted', 'accepted'],
  ['bound by jkt, with the proof of another', key, { jkt: CERTIFICATE }, REFUSED, REFUSED],
  ['bound by jkt, with its proof and a certificate', key, both, 'accepted', 'accepted'],
  ['bound by jkt, with a certificate alone', key, certificate, REFUSED, 'accepted'],
  ['bound by jkt, in other case', key, { jkt: JKT.toLowerCase() }, REFUSED, REFUSED],
  ['bound by jkt, proven by a number', key, { jkt: 7 }, REFUSED, REFUSED],
  ['bound by jkt, proven by null', key, { jkt: null }, REFUSED, REFUSED],
  ['bound by jkt, a possession that is a text', key, JKT, REFUSED, 'accepted'],
  ['bound by jkt, a possession that is null', key, null, REFUSED, 'accepted'],
  ['bound by certificate', { 'x5t#S256': CERTIFICATE }, certificate, 'accepted', 'accepted'],
  ['bound by certificate, none shown', { 'x5t#S256': CERTIFICATE }, {}, REFUSED, 'accepted'],
  [
    'bound by certificate, another shown',
    { 'x5t#S256': CERTIFICATE },
    { x5tS256: JKT },
    REFUSED,
    'accepted',
  ],
  ['bound by certificate, with a proof', { 'x5t#S256': CERTIFICATE }, both, REFUSED, REFUSED],
  ['bound by certificate, the thumbprint as jkt', { 'x5t#S256': JKT }, key, REFUSED, REFUSED],
  ['bound by both', { jkt: JKT, 'x5t#S256': CERTIFICATE }, both, 'accepted', 'accepted'],
  ['bound by both, one proven', { jkt: JKT, 'x5t#S256': CERTIFICATE }, key, REFUSED, 'accepted'],
  [
    'bound by both, the other proven',
    { jkt: JKT, 'x5t#S256': CERTIFICATE },
    certificate,
    REFUSED,
    'accepted',
  ],
  [
    'bound by our name of a certificate',
    { x5tS256: CERTIFICATE },
    certificate,
    REFUSED,
    'accepted',
  ],
  ['an empty cnf', {}, both, REFUSED, REFUSED],
  ['an empty cnf, nothing proven', {}, undefined, REFUSED, 'accepted'],
  ['cnf null', null, undefined, REFUSED, 'accepted'],
  ['cnf null, with a proof', null, key, REFUSED, REFUSED],
  ['cnf a text', JKT, key, REFUSED, REFUSED],
  ['cnf a list', [key], key, REFUSED, REFUSED],
  ['cnf false', false, undefined, REFUSED, 'accepted'],
  ['an unknown member', { jwk: { kty: 'EC' } }, undefined, REFUSED, 'accepted'],
  [
    'an unknown member beside a proven one',
    { jkt: JKT, 'kc-jkt-type': 'DPoP' },
    key,
    'accepted',
    'accepted',
  ],
  [
    'an unknown member beside one that is not proven',
    { jkt: JKT, x: 1 },
    undefined,
    REFUSED,
    'accepted',
  ],
  ['an unknown member alone', { 'kc-jkt-type': 'DPoP' }, key, REFUSED, REFUSED],
  ...['jwk', 'jwe', 'jku', 'kid', 'osc'].map((name): Row => [
    `${name} beside a proven one: it is known to bind, and cannot be proven`,
    { jkt: JKT, [name]: '1' },
    key,
    REFUSED,
    'accepted',
  ]),
  ...['', 7, null, [CERTIFICATE]].map((value): Row => [
    `a proven jkt beside a certificate that is ${JSON.stringify(value)}`,
    { jkt: JKT, 'x5t#S256': value },
    key,
    REFUSED,
    'accepted',
  ]),
  ['jkt a list', { jkt: [JKT] }, key, REFUSED, REFUSED],
  ['jkt an object', { jkt: { jkt: JKT } }, key, REFUSED, REFUSED],
  ['jkt null', { jkt: null }, { jkt: null }, REFUSED, REFUSED],
  ['jkt empty, proven by nothing', { jkt: '' }, { jkt: '' }, REFUSED, REFUSED],
  ['a certificate of another type', { 'x5t#S256': 7 }, { x5tS256: 7 }, REFUSED, 'accepted'],
]

describe('the comparison', () => {
  test.each(ROWS)('%s', async (_, cnf, possession, required, ignored) => {
    const token = cnf === undefined ? await issuer.token() : await bound(cnf)
    for (const [confirmation, expected] of [
      ['require', required],
      ['ignore', ignored],
    ] as const) {
      const verifier = verifierWith({ confirmation })
      const options = { possession: possession as Possession }
      // The second time it is remembered.
      for (let use = 0; use < 2; use++) {
        expect(await verdictOf(verifier.verify(token, options))).toBe(expected)
      }
    }
  })
})

describe('what a refusal tells', () => {
  const byCertificate = { 'x5t#S256': CERTIFICATE }

  test.each<[string, unknown, Possession, string]>([
    ['bound by jkt, no proof', key, {}, 'a key (cnf.jkt), and came without a DPoP proof: '],
    ['the proof of another key', key, { jkt: 'x' }, 'came with a DPoP proof of another key'],
    ['bound by certificate, none shown', byCertificate, {}, 'came without a client certificate: '],
    ['another certificate', byCertificate, { x5tS256: 'x' }, 'came with another one'],
    ['a proof for a certificate', byCertificate, both, 'and is bound to no such key'],
    ['a proof for nothing readable', {}, key, 'cnf is an empty object'],
  ])('%s', async (_, cnf, possession, sentence) => {
    const refused = verifierWith().verify(await bound(cnf), { possession })
    await expect(refused).rejects.toMatchObject({
      reason: 'binding',
      detail: expect.stringContaining(sentence) as unknown,
    })
  })
})

const signed = async (members: string) =>
  await issuer.token({
    payload: `{"iss":"${NAME}","exp":${Math.floor(clock.now()) + 600},${members}}`,
  })

describe('a member that is twice in what the issuer has signed', () => {
  const other = CERTIFICATE

  test.each([
    `"cnf":{"jkt":"${other}","jkt":"${JKT}"}`,
    `"cnf":{"jkt":"${JKT}","jkt":"${JKT}"}`,
    `"cnf":{"jkt":"${other}","\\u006akt":"${JKT}"}`,
    `"cnf":{"jkt":"${JKT}"},"act":{"cnf":{"jkt":"${other}","jkt":"${JKT}"}}`,
  ])('of %s: refused, also when it is remembered', async (members) => {
    const verifier = verifierWith()
    const token = await signed(members)
    for (let use = 0; use < 2; use++) {
      for (const jkt of [JKT, other]) {
        expect(await verdictOf(verifier.verify(token, { possession: { jkt } }))).toBe(REFUSED)
      }
      expect(await verdictOf(verifier.verify(token))).toBe(REFUSED)
    }
    const { findings } = await explain(token, issuer.verifierOptions, { possession: key })
    expect(findings.find(({ check }) => check === 'binding')?.outcome).toBe('fail')
  })

  test('of a token that is bound to nothing: accepted as ever', async () => {
    const token = await signed('"act":{"sub":"a","sub":"b"}')
    expect(await verdictOf(verifierWith().verify(token))).toBe('accepted')
  })
})

describe('what an Auth says of it', () => {
  test('is what the token is bound to and was proven, frozen', async () => {
    const auth = await proven(key, both)
    expect(auth.possession).toEqual(key)
    expect(Object.isFrozen(auth)).toBe(true)
    expect(Object.isFrozen(auth.possession)).toBe(true)
    expect((await proven({ 'x5t#S256': CERTIFICATE }, certificate)).possession).toEqual(certificate)
  })

  test('is nothing for an unbound token: it has no such member', async () => {
    expect(Object.keys(await proven(undefined, certificate))).toEqual(['claims', 'header', 'token'])
  })

  test('is, where confirmation is ignored, what was confirmed all the same', async () => {
    const ignoring = { confirmation: 'ignore' } as const
    expect((await proven(key, both, ignoring)).possession).toEqual(key)
    const other = await proven({ 'x5t#S256': JKT }, certificate, ignoring)
    expect(Object.keys(other)).not.toContain('possession')
    // Neither is bound nor shown.
    expect(Object.keys(await proven({ kid: 'a' }, {}, ignoring))).not.toContain('possession')
  })

  test('is what was proven at this use, whatever others have proven before', async () => {
    const verifier = verifierWith({ confirmation: 'ignore' })
    const token = await bound({ jkt: JKT, 'x5t#S256': CERTIFICATE })
    const uses: readonly Possession[] = [key, certificate, both, {}]
    // Each behind each, itself among them.
    for (const earlier of uses) {
      for (const possession of uses) {
        await verifier.verify(token, { possession: earlier })
        const auth = await verifier.verify(token, { possession })
        expect({ ...auth.possession }).toStrictEqual(possession)
        expect(Object.hasOwn(auth, 'possession')).toBe(possession !== uses[3])
      }
    }
  })

  test('is of this token, of several that are used in turn', async () => {
    const verifier = verifierWith()
    const tokens = [await bound(key), await bound({ jkt: CERTIFICATE })] as const
    for (let use = 0; use < 2; use++) {
      for (const [at, jkt] of [JKT, CERTIFICATE].entries()) {
        const token = tokens[at] ?? ''
        const auth = await verifier.verify(token, { possession: { jkt } })
        expect([auth.token, { ...auth.possession }]).toEqual([token, { jkt }])
      }
    }
  })

  test('is made once for a client that uses its token again', async () => {
    const verifier = verifierWith()
    const token = await bound(key)
    const first = await verifier.verify(token, { possession: { ...key } })
    expect(await verifier.verify(token, { possession: { ...key } })).toBe(first)
  })
})

test('explain compares nothing with a proof where there are no claims to read', async () => {
  const token = await issuer.token({ payload: 'none' })
  const { findings } = await explain(token, issuer.verifierOptions, { possession: key })
  expect(findings.filter(({ check }) => check === 'binding')).toEqual([])
})

describe('a remembered token', () => {
  test('bound, used with its proof and then without: refused, again and again', async () => {
    const verifier = verifierWith()
    const token = await bound(key)
    const uses = [
      [{ possession: key }, 'accepted'],
      [undefined, REFUSED],
      [{}, REFUSED],
      [{ possession: { jkt: 'other' } }, REFUSED],
      [{ possession: key }, 'accepted'],
    ] as const
    for (const [options, expected] of uses) {
      expect(await verdictOf(verifier.verify(token, options))).toBe(expected)
    }
  })

  test('bound, first used without its proof: accepted with it, without a second signature check', async () => {
    const verifier = verifierWith()
    const token = await bound(key)
    expect(await verdictOf(verifier.verify(token))).toBe(REFUSED)
    const messages = await messagesOf(async () => {
      await verifier.verify(token, { possession: key })
    })
    expect(messages).toEqual([{ reason: undefined, remembered: true }])
  })

  test('unbound, used as bearer token and then with a proof: refused', async () => {
    const verifier = verifierWith()
    const token = await issuer.token()
    expect(await verdictOf(verifier.verify(token))).toBe('accepted')
    expect(await verdictOf(verifier.verify(token, { possession: key }))).toBe(REFUSED)
    expect(await verdictOf(verifier.verify(token))).toBe('accepted')
  })

  test('is recalled at once where it is unbound, and never where it is bound', async () => {
    const verifier = verifierWith()
    const [unbound, token] = [await issuer.token(), await bound(key)]
    await verifier.verify(unbound)
    await verifier.verify(token, { possession: key })
    expect(recalled(verifier, unbound)?.token).toBe(unbound)
    expect(recalled(verifier, token)).toBeUndefined()
  })

  test('says at each use what was proven, also where confirmation is ignored', async () => {
    const verifier = verifierWith({ confirmation: 'ignore' })
    const token = await bound({ 'x5t#S256': CERTIFICATE })
    const mutualTls = brandedMutualTls({ required: false, thumbprintOf: () => CERTIFICATE })
    const guard = checkGuardOptions(verifier, { mutualTls })
    const request = { headers: { authorization: `Bearer ${token}` } }
    for (let use = 0; use < 3; use++) {
      const auth = await authenticateRequest(verifier, request, guard, request)
      expect(auth?.possession).toEqual(certificate)
    }
  })
})

describe('a verifier of several issuers', () => {
  test.each([
    ['of an object', several],
    ['of a function', found],
  ])('%s hands on what was proven, and recalls no bound token', async (_, make) => {
    const verifier = make()
    const token = await bound(key)
    expect(await verdictOf(verifier.verify(token))).toBe(REFUSED)
    expect((await verifier.verify(token, { possession: key })).possession).toEqual(key)
    expect(recalled(verifier, token)).toBeUndefined()
    expect(await verdictOf(verifier.verify(token))).toBe(REFUSED)
  })
})

function withSchema(change: (claims: object) => object): Verifier<object> {
  return createVerifier({ ...issuer.verifierOptions, schema: schema(change) })
}

describe('a schema', () => {
  test('that strips cnf frees no bound token', async () => {
    const verifier = withSchema(() => ({}))
    const token = await bound(key)
    for (let use = 0; use < 2; use++) {
      expect(await verdictOf(verifier.verify(token))).toBe(REFUSED)
      const auth = await verifier.verify(token, { possession: key })
      expect(auth).toMatchObject({ claims: {}, possession: key })
    }
  })

  test('that adds cnf binds no unbound token', async () => {
    const verifier = withSchema((claims) => ({ ...claims, cnf: key }))
    const token = await issuer.token()
    for (let use = 0; use < 2; use++) {
      expect(await verdictOf(verifier.verify(token))).toBe('accepted')
      expect(await verdictOf(verifier.verify(token, { possession: key }))).toBe(REFUSED)
    }
  })

  test('is not asked about a token whose binding does not hold', async () => {
    let calls = 0
    const verifier = withSchema((claims) => {
      calls++
      return claims
    })
    await verdictOf(verifier.verify(await bound(key)))
    expect(calls).toBe(0)
  })
})

describe('revocations', () => {
  test('are not asked about a token whose binding does not hold', async () => {
    let asked = 0
    const revocations: Revocations = {
      statusOf: () => {
        asked++
        return 'valid'
      },
    }
    expect(await verdictOf(verifierWith({ revocations }).verify(await bound(key)))).toBe(REFUSED)
    expect(asked).toBe(0)
  })

  test('that let wait: what was proven is read once, before', async () => {
    const answers: ((status: RevocationStatus) => void)[] = []
    const answered = new Promise<RevocationStatus>((resolve) => {
      answers.push(resolve)
    })
    const verifier = verifierWith({ revocations: { statusOf: async () => await answered } })
    const token = await bound(key)
    const possession: { jkt?: string } = { jkt: 'other' }
    const wrong = verdictOf(verifier.verify(token, { possession }))
    possession.jkt = JKT
    const right = verifier.verify(token, { possession })
    delete possession.jkt
    answers[0]?.('valid')
    expect(await wrong).toBe(REFUSED)
    expect((await right).possession).toEqual(key)
  })

  test('refuse a bound token that is revoked', async () => {
    const revocations = localRevocations({ clock })
    const verifier = verifierWith({ revocations })
    const token = await issuer.token({ claims: { cnf: key, jti: '1' } })
    await revocations.revoke(await verifier.verify(token, { possession: key }))
    expect(await verdictOf(verifier.verify(token, { possession: key }))).toBe(
      'invalid_token revoked',
    )
    expect(await verdictOf(verifier.verify(token))).toBe(REFUSED)
  })
})

describe('watchToken', () => {
  test('judges a bound token again with what its sender had proven', async () => {
    const verifier = verifierWith({ requireExpiry: false })
    const token = await issuer.token({ claims: { cnf: key }, expiresIn: 1000 })
    const auth = await verifier.verify(token, { possession: key })
    const refusals: unknown[] = []
    const end = watchToken(verifier, auth, (error) => refusals.push(error), { clock })
    await clock.advance(180)
    expect(refusals).toEqual([])
    end()
  })

  test('does not take what the prototype of an Auth proves', async () => {
    const verifier = verifierWith()
    const auth = await verifier.verify(await bound(key), { possession: key })
    const { possession, ...rest } = auth
    const inherits: Auth = Object.assign(Object.create({ possession }) as object, rest)
    const refusals: unknown[] = []
    watchToken(verifier, inherits, (error) => refusals.push(error), { clock })
    await clock.advance(61)
    expect(refusals).toMatchObject([{ reason: 'binding' }])
  })

  test('asks about an unbound token as ever', async () => {
    const calls: unknown[][] = []
    const auth = await verifierWith().verify(await issuer.token())
    const spy = {
      verify: async (...args: unknown[]) => {
        calls.push(args)
        return await Promise.resolve(auth)
      },
    }
    const end = watchToken(spy, auth, () => {}, { clock })
    await clock.advance(61)
    expect(calls).toEqual([[auth.token]])
    end()
  })
})

test('the channel of verdicts has the refusal', async () => {
  const token = await bound(key)
  const messages = await messagesOf(async () => {
    await verdictOf(verifierWith().verify(token))
  })
  expect(messages).toEqual([{ reason: 'binding', remembered: false }])
})

test.each(['require', 'ignore'] as const)('confirmation: %s is an option', (confirmation) => {
  expect(() => verifierWith({ confirmation })).not.toThrow()
})

test.each([true, false, null, 'none', ''])('confirmation: %j is refused at start-up', (value) => {
  expect(() => verifierWith({ confirmation: value as 'ignore' })).toThrow(
    new TypeError('createVerifier: confirmation must be one of require, ignore'),
  )
})

async function messagesOf(work: () => Promise<void>): Promise<readonly object[]> {
  const messages: object[] = []
  const listener = (message: unknown) => {
    const { reason, remembered } = message as VerifyMessage
    messages.push({ reason, remembered })
  }
  subscribe('portcullis:verify', listener)
  try {
    await work()
  } finally {
    unsubscribe('portcullis:verify', listener)
  }
  return messages
}
