import { describe, expect, test } from 'vitest'

import {
  checkClaims,
  type ClaimRules,
  couldBeAccepted,
  wasIssuedAfter,
} from '../../src/claims/claims.ts'
import { type RequiredClaim, requiredClaimsOf } from '../../src/claims/required-claims.ts'
import { AuthError } from '../../src/refusal/errors.ts'

const NOW = 1_700_000_000

const RULES: ClaimRules = {
  isAccessToken: true,
  issuer: null,
  audience: null,
  clockTolerance: 5,
  requireExpiry: true,
  maxTokenAge: undefined,
  requiredClaims: [],
}

const anyOf = (...names: readonly string[]) =>
  names.map((name): RequiredClaim => ({ name, values: 'any' }))

const ANY_TIME: ClaimRules = { ...RULES, requireExpiry: false }

const WRONG_TYPES = [
  { type: 'a text', json: `"${NOW + 60}"` },
  { type: 'an empty text', json: '""' },
  { type: 'null', json: 'null' },
  { type: 'true', json: 'true' },
  { type: 'false', json: 'false' },
  { type: 'an empty list', json: '[]' },
  { type: 'a list of one number', json: `[${NOW + 60}]` },
  { type: 'an object', json: '{}' },
]

function encode(payload: string | object): Buffer {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return Buffer.from(text)
}

/** The reason of the 401 `invalid_token`, or `accepted`; `couldBeAccepted` has to agree. */
function verdict(payload: string | object, rules: ClaimRules, now = NOW): string {
  const answer = checked(() => checkClaims(encode(payload), rules, now))
  expect(couldBeAccepted(encode(payload), rules, now)).toBe(answer === 'accepted')
  return answer
}

function checked(check: () => unknown): string {
  try {
    check()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const { code, reason, status } = error
    return code === 'invalid_token' && status === 401 ? reason : `${code} ${status}`
  }
}

describe('the payload', () => {
  test('its claims come back as signed', () => {
    const claims = { exp: NOW + 60, sub: 'ada', roles: ['a', { b: null }], 'https://x/y': 1.5 }
    expect(checkClaims(encode(claims), RULES, NOW)).toStrictEqual(claims)
  })

  test('its claims are frozen to the last level', () => {
    const claims = checkClaims(encode({ exp: NOW + 60, a: { b: [{}] } }), RULES, NOW)
    const a = claims['a'] as { b: [object] }
    expect([claims, a, a.b, a.b[0]].every((each) => Object.isFrozen(each))).toBe(true)
  })

  test.each([
    { name: 'no JSON', payload: 'claims' },
    { name: 'a list', payload: '[]' },
    { name: 'a list with a claims set', payload: `[{"exp":${NOW + 60}}]` },
    { name: 'a text', payload: '"claims"' },
    { name: 'null', payload: 'null' },
    { name: 'a byte order mark', payload: `\uFEFF{"exp":${NOW + 60}}` },
    { name: 'a duplicate claim', payload: `{"exp":${NOW + 60},"exp":${NOW + 61}}` },
    { name: 'an escaped duplicate', payload: String.raw`{"exp":${NOW + 60},"\u0065xp":1}` },
    { name: '__proto__', payload: `{"exp":${NOW + 60},"__proto__":{"admin":true}}` },
    { name: '__proto__ at depth', payload: `{"exp":${NOW + 60},"a":[{"__proto__":1}]}` },
    { name: '33 levels', payload: `{"exp":${NOW + 60},"a":${'['.repeat(32)}${']'.repeat(32)}}` },
    { name: 'an exp of 1e309', payload: '{"exp":1e309}' },
    { name: 'an nbf of -1e309', payload: `{"exp":${NOW + 60},"nbf":-1e309}` },
    { name: 'an iat of 1e309', payload: `{"exp":${NOW + 60},"iat":1e309}` },
  ])('$name is malformed', ({ payload }) => {
    expect(verdict(payload, RULES)).toBe('malformed')
  })

  test('octets that are not UTF-8 are malformed', () => {
    const payload = Buffer.concat([Buffer.from('{"sub":"'), Buffer.from([0xc3, 0x28, 0x22, 0x7d])])
    expect(checked(() => checkClaims(payload, ANY_TIME, NOW))).toBe('malformed')
    expect(couldBeAccepted(payload, ANY_TIME, NOW)).toBe(false)
  })
})

describe('exp', () => {
  test.each([
    { name: 'a second before the end', exp: NOW + 1, clockTolerance: 0, answer: 'accepted' },
    { name: 'a fraction before the end', exp: NOW + 0.25, clockTolerance: 0, answer: 'accepted' },
    { name: 'exactly now', exp: NOW, clockTolerance: 0, answer: 'expired' },
    { name: 'a fraction ago', exp: NOW - 0.25, clockTolerance: 0, answer: 'expired' },
    { name: 'now, within the tolerance', exp: NOW, clockTolerance: 5, answer: 'accepted' },
    { name: 'just within the tolerance', exp: NOW - 4.75, clockTolerance: 5, answer: 'accepted' },
    { name: 'the whole tolerance ago', exp: NOW - 5, clockTolerance: 5, answer: 'expired' },
    { name: 'just beyond the tolerance', exp: NOW - 5.25, clockTolerance: 5, answer: 'expired' },
    { name: 'a fractional tolerance ago', exp: NOW - 0.5, clockTolerance: 0.5, answer: 'expired' },
    { name: 'less than it', exp: NOW - 0.25, clockTolerance: 0.5, answer: 'accepted' },
    {
      name: 'within the longest tolerance',
      exp: NOW - 599,
      clockTolerance: 600,
      answer: 'accepted',
    },
    { name: 'the longest tolerance ago', exp: NOW - 600, clockTolerance: 600, answer: 'expired' },
    { name: 'zero', exp: 0, clockTolerance: 5, answer: 'expired' },
    { name: 'below zero', exp: -1, clockTolerance: 5, answer: 'expired' },
    {
      name: 'in the last second that is no other unit',
      exp: 1e12 - 1,
      clockTolerance: 5,
      answer: 'accepted',
    },
    { name: 'of 1e12, which is in milliseconds', exp: 1e12, clockTolerance: 5, answer: 'claim' },
    { name: 'in milliseconds', exp: NOW * 1000, clockTolerance: 5, answer: 'claim' },
    { name: 'beyond 64 bits', exp: 1e300, clockTolerance: 5, answer: 'claim' },
  ])('$name: $answer', ({ exp, clockTolerance, answer }) => {
    expect(verdict({ exp }, { ...RULES, clockTolerance })).toBe(answer)
  })

  test('a clock between two seconds is compared as it is', () => {
    const rules = { ...RULES, clockTolerance: 0 }
    expect(verdict({ exp: NOW + 1 }, rules, NOW + 0.75)).toBe('accepted')
    expect(verdict({ exp: NOW + 0.5 }, rules, NOW + 0.75)).toBe('expired')
    expect(verdict({ exp: NOW + 0.75 }, rules, NOW + 0.75)).toBe('expired')
  })

  test('is required', () => {
    expect(verdict({}, RULES)).toBe('missing_claim')
    expect(verdict({ sub: 'ada', iat: NOW }, RULES)).toBe('missing_claim')
  })

  test('is required in this very spelling', () => {
    expect(verdict({ Exp: NOW + 60, 'exp ': NOW + 60 }, RULES)).toBe('missing_claim')
  })

  test('is waived in writing, and then judged if there is one', () => {
    expect(verdict({}, ANY_TIME)).toBe('accepted')
    expect(verdict({ exp: NOW - 5 }, ANY_TIME)).toBe('expired')
  })

  test.each(WRONG_TYPES)('is no date as $type', ({ json }) => {
    expect(verdict(`{"exp":${json}}`, RULES)).toBe('claim')
    expect(verdict(`{"exp":${json}}`, ANY_TIME)).toBe('claim')
  })
})

describe('nbf', () => {
  test.each([
    { name: 'in the past', nbf: NOW - 1, clockTolerance: 0, answer: 'accepted' },
    { name: 'exactly now', nbf: NOW, clockTolerance: 0, answer: 'accepted' },
    { name: 'a fraction ahead', nbf: NOW + 0.25, clockTolerance: 0, answer: 'not_yet_valid' },
    { name: 'the whole tolerance ahead', nbf: NOW + 5, clockTolerance: 5, answer: 'accepted' },
    {
      name: 'just beyond the tolerance',
      nbf: NOW + 5.25,
      clockTolerance: 5,
      answer: 'not_yet_valid',
    },
    {
      name: 'the longest tolerance ahead',
      nbf: NOW + 600,
      clockTolerance: 600,
      answer: 'accepted',
    },
    { name: 'beyond it', nbf: NOW + 601, clockTolerance: 600, answer: 'not_yet_valid' },
    { name: 'zero', nbf: 0, clockTolerance: 0, answer: 'accepted' },
    { name: 'below zero', nbf: -1, clockTolerance: 0, answer: 'accepted' },
    { name: 'in milliseconds', nbf: NOW * 1000, clockTolerance: 5, answer: 'claim' },
  ])('$name: $answer', ({ nbf, clockTolerance, answer }) => {
    expect(verdict({ nbf }, { ...ANY_TIME, clockTolerance })).toBe(answer)
  })

  test.each(WRONG_TYPES)('is no date as $type', ({ json }) => {
    expect(verdict(`{"nbf":${json}}`, ANY_TIME)).toBe('claim')
  })
})

describe('iat', () => {
  test.each([
    { name: 'in the past', iat: NOW - 1e6, clockTolerance: 0, answer: 'accepted' },
    { name: 'now', iat: NOW, clockTolerance: 0, answer: 'accepted' },
    { name: '60 s ahead', iat: NOW + 60, clockTolerance: 0, answer: 'accepted' },
    { name: 'a fraction further', iat: NOW + 60.25, clockTolerance: 0, answer: 'issued_in_future' },
    { name: '60 s ahead with 5 s tolerance', iat: NOW + 60, clockTolerance: 5, answer: 'accepted' },
    { name: 'which do not add up', iat: NOW + 61, clockTolerance: 5, answer: 'issued_in_future' },
    { name: 'a longer tolerance ahead', iat: NOW + 61, clockTolerance: 61, answer: 'accepted' },
    { name: 'beyond it', iat: NOW + 61.25, clockTolerance: 61, answer: 'issued_in_future' },
    { name: 'in milliseconds', iat: NOW * 1000, clockTolerance: 5, answer: 'claim' },
    { name: 'zero', iat: 0, clockTolerance: 0, answer: 'accepted' },
    { name: 'below zero', iat: -1, clockTolerance: 0, answer: 'accepted' },
  ])('$name: $answer', ({ iat, clockTolerance, answer }) => {
    expect(verdict({ iat }, { ...ANY_TIME, clockTolerance })).toBe(answer)
  })

  test.each(WRONG_TYPES)('is no date as $type', ({ json }) => {
    expect(verdict(`{"iat":${json}}`, ANY_TIME)).toBe('claim')
  })
})

describe('maxTokenAge', () => {
  const rules = { ...RULES, maxTokenAge: 300 }
  const exp = NOW + 60

  test.each([
    { name: 'younger', iat: NOW - 299, clockTolerance: 0, answer: 'accepted' },
    { name: 'exactly as old', iat: NOW - 300, clockTolerance: 0, answer: 'accepted' },
    { name: 'a fraction older', iat: NOW - 300.25, clockTolerance: 0, answer: 'too_old' },
    { name: 'older by the tolerance', iat: NOW - 305, clockTolerance: 5, answer: 'accepted' },
    { name: 'older by a fraction more', iat: NOW - 305.25, clockTolerance: 5, answer: 'too_old' },
    { name: 'issued a little ahead', iat: NOW + 60, clockTolerance: 0, answer: 'accepted' },
    { name: 'issued too far ahead', iat: NOW + 61, clockTolerance: 0, answer: 'issued_in_future' },
    { name: 'issued at zero', iat: 0, clockTolerance: 0, answer: 'too_old' },
  ])('$name: $answer', ({ iat, clockTolerance, answer }) => {
    expect(verdict({ exp, iat }, { ...rules, clockTolerance })).toBe(answer)
  })

  test('makes iat a required claim', () => {
    expect(verdict({ exp }, rules)).toBe('missing_claim')
    expect(verdict({}, { ...rules, requireExpiry: false })).toBe('missing_claim')
    expect(verdict({ iat: NOW }, { ...rules, requireExpiry: false })).toBe('accepted')
  })

  test('does not stand in for exp', () => {
    expect(verdict({ iat: NOW }, rules)).toBe('missing_claim')
  })
})

describe('a clock that is out of order lets nothing in', () => {
  test.each([Number.NaN, Infinity, -Infinity])('%s', (now) => {
    for (const claims of [
      { exp: NOW + 60 },
      { nbf: NOW - 60 },
      { iat: NOW - 60 },
      { sub: 'ada' },
    ]) {
      expect(verdict(claims, ANY_TIME, now)).toBe('expired')
      expect(verdict(claims, ANY_TIME)).toBe('accepted')
    }
  })
})

test.each([
  { claim: 'exp', reason: 'expired' },
  { claim: 'iat', reason: 'issued_in_future' },
])('a tolerance that is NaN refuses a token with $claim', ({ claim, reason }) => {
  const rules = { ...ANY_TIME, clockTolerance: Number.NaN }
  expect(verdict({ [claim]: NOW + (claim === 'exp' ? 60 : 0) }, rules)).toBe(reason)
})

describe('requiredClaims', () => {
  const rules = { ...RULES, requiredClaims: anyOf('sub', 'tenant') }

  test.each([
    { name: 'all', claims: { sub: 'ada', tenant: 'x' }, answer: 'accepted' },
    { name: 'all, with whatever value', claims: { sub: null, tenant: '' }, answer: 'accepted' },
    { name: 'the first only', claims: { sub: 'ada' }, answer: 'missing_claim' },
    { name: 'the last only', claims: { tenant: 'x' }, answer: 'missing_claim' },
    { name: 'none', claims: {}, answer: 'missing_claim' },
    { name: 'one of them deeper', claims: { sub: 'a', x: { tenant: 1 } }, answer: 'missing_claim' },
  ])('$name: $answer', ({ claims, answer }) => {
    expect(verdict({ exp: NOW + 60, ...claims }, rules)).toBe(answer)
  })

  test.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    'an inherited %s is a missing claim',
    (name) => {
      const requiring = { ...RULES, requiredClaims: anyOf(name) }
      expect(verdict({ exp: NOW + 60 }, requiring)).toBe('missing_claim')
    },
  )
})

describe('the values of requiredClaims', () => {
  const rules: ClaimRules = {
    ...RULES,
    requiredClaims: [
      { name: 'token_use', values: ['access'] },
      { name: 'client_id', values: ['app1', 2, true] },
      { name: 'email_verified', values: true },
    ],
  }
  const sound = { exp: NOW + 60, token_use: 'access', client_id: 'app1', email_verified: true }

  test.each([
    { name: 'all as required', claims: {}, answer: 'accepted' },
    { name: 'another one of the list', claims: { client_id: 2 }, answer: 'accepted' },
    { name: 'a boolean', claims: { client_id: true }, answer: 'accepted' },
    { name: 'another text', claims: { token_use: 'id' }, answer: 'claim' },
    { name: 'another case', claims: { token_use: 'Access' }, answer: 'claim' },
    { name: 'a longer text', claims: { token_use: 'access ' }, answer: 'claim' },
    { name: 'a list of the value', claims: { token_use: ['access'] }, answer: 'claim' },
    { name: 'an object with it', claims: { token_use: { access: true } }, answer: 'claim' },
    { name: 'the number as a text', claims: { client_id: '2' }, answer: 'claim' },
    { name: 'the boolean as a number', claims: { client_id: 1 }, answer: 'claim' },
    { name: 'null', claims: { token_use: null }, answer: 'claim' },
    { name: 'none', claims: { token_use: undefined }, answer: 'missing_claim' },
  ])('$name: $answer', ({ claims, answer }) => {
    expect(verdict({ ...sound, ...claims }, rules)).toBe(answer)
    expect(couldBeAccepted(encode({ ...sound, ...claims }), rules, NOW)).toBe(answer === 'accepted')
  })

  test.each<[value: unknown, answer: string]>([
    [true, 'accepted'],
    ['ada', 'accepted'],
    ['true', 'accepted'],
    ['0', 'accepted'],
    [1_700_000_000, 'accepted'],
    [-1, 'accepted'],
    [false, 'claim'],
    ['false', 'claim'],
    ['False', 'claim'],
    [' FALSE ', 'claim'],
    ['', 'claim'],
    [' ', 'claim'],
    [0, 'claim'],
    [-0, 'claim'],
    [null, 'claim'],
    [[], 'claim'],
    [[true], 'claim'],
    [['access'], 'claim'],
    [{}, 'claim'],
    [{ value: true }, 'claim'],
    [undefined, 'missing_claim'],
  ])('where true is required, %j: %s', (value, answer) => {
    expect(verdict({ ...sound, email_verified: value }, rules)).toBe(answer)
  })

  test.each<[value: unknown, answer: string]>([
    [true, 'accepted'],
    ['true', 'claim'],
    [1, 'claim'],
    [[true], 'claim'],
    [false, 'claim'],
    [null, 'claim'],
  ])('where [true] is required, %j: %s', (value, answer) => {
    const requiring = { ...RULES, requiredClaims: [{ name: 'flag', values: [true] }] }
    expect(verdict({ exp: NOW + 60, flag: value }, requiring)).toBe(answer)
  })

  test.each<[value: unknown, answer: string]>([
    ['spiffe://example.org/orders', 'accepted'],
    ['spiffe://example.org/ns/shop/sa/orders-0_a.B', 'accepted'],
    ['spiffe://example.org/...', 'accepted'],
    [`spiffe://example.org/${'a'.repeat(2027)}`, 'accepted'],
    ['spiffe://example.org', 'claim'],
    ['spiffe://example.org/', 'claim'],
    ['spiffe://example.org//', 'claim'],
    ['spiffe://example.org//orders', 'claim'],
    ['spiffe://example.org/orders/', 'claim'],
    ['spiffe://example.org/a//b', 'claim'],
    ['spiffe://example.org/.', 'claim'],
    ['spiffe://example.org/..', 'claim'],
    ['spiffe://example.org/../orders', 'claim'],
    ['spiffe://example.org/a/../b', 'claim'],
    ['spiffe://example.org/a/./b', 'claim'],
    ['spiffe://example.org/%2e%2e/b', 'claim'],
    ['spiffe://example.org/orders?a=b', 'claim'],
    ['spiffe://example.org/orders#a', 'claim'],
    ['spiffe://example.org/orders\n', 'claim'],
    [' spiffe://example.org/orders', 'claim'],
    ['spiffe://example.org/ord ers', 'claim'],
    ['spiffe://example.org/bücher', 'claim'],
    ['spiffe://example.org/a\\b', 'claim'],
    ['spiffe://example.org.evil.test/orders', 'claim'],
    ['spiffe://example.org@evil.test/orders', 'claim'],
    ['spiffe://example.org:443/orders', 'claim'],
    ['spiffe://user@example.org/orders', 'claim'],
    ['spiffe://EXAMPLE.org/orders', 'claim'],
    ['SPIFFE://example.org/orders', 'claim'],
    ['https://example.org/orders', 'claim'],
    ['spiffe://other.test/spiffe://example.org/orders', 'claim'],
    [['spiffe://example.org/orders'], 'claim'],
    [{ toString: 'spiffe://example.org/orders' }, 'claim'],
    [true, 'claim'],
    [null, 'claim'],
    [undefined, 'missing_claim'],
  ])('where a path under spiffe://example.org/ is required, %j: %s', (value, answer) => {
    const values = { pathUnder: 'spiffe://example.org/' }
    const requiring = { ...RULES, requiredClaims: [{ name: 'flag', values }] }
    expect(verdict({ exp: NOW + 60, flag: value }, requiring)).toBe(answer)
  })

  test('what the caller changes later has no effect', () => {
    const [path, list] = [{ pathUnder: 'spiffe://example.org/' }, ['a']]
    const requiring = { ...RULES, requiredClaims: requiredClaimsOf({ flag: path, other: list }) }
    path.pathUnder = 'spiffe://other.test/'
    list.push('b')
    const other = 'spiffe://other.test/orders'
    expect(verdict({ exp: NOW + 60, flag: other, other: 'a' }, requiring)).toBe('claim')
    const ours = 'spiffe://example.org/orders'
    expect(verdict({ exp: NOW + 60, flag: ours, other: 'b' }, requiring)).toBe('claim')
    expect(verdict({ exp: NOW + 60, flag: ours, other: 'a' }, requiring)).toBe('accepted')
  })

  test('are judged after the time', () => {
    expect(verdict({ ...sound, exp: NOW - 60, token_use: 'id' }, rules)).toBe('expired')
  })
})

describe('iss', () => {
  const rules = { ...ANY_TIME, issuer: ['https://a.example', 'https://b.example'] }

  test.each([
    { name: 'the first', json: '"https://a.example"' },
    { name: 'the last', json: '"https://b.example"' },
    { name: 'an escaped spelling', json: String.raw`"https:\/\/a.ex\u0061mple"` },
  ])('$name of the issuers is accepted', ({ json }) => {
    expect(verdict(`{"iss":${json}}`, rules)).toBe('accepted')
  })

  test.each([
    { name: 'another issuer', json: '"https://c.example"' },
    { name: 'a trailing slash', json: '"https://a.example/"' },
    { name: 'another case', json: '"https://A.example"' },
    { name: 'a beginning', json: '"https://a.exam"' },
    { name: 'a longer text', json: '"https://a.example.evil.example"' },
    { name: 'a space at the end', json: '"https://a.example "' },
    { name: 'an empty text', json: '""' },
    { name: 'both issuers in one text', json: '"https://a.example,https://b.example"' },
    { name: 'a list with the issuer', json: '["https://a.example"]' },
    { name: 'an object', json: '{"https://a.example":true}' },
    { name: 'null', json: 'null' },
    { name: 'true', json: 'true' },
    { name: 'a number', json: '0' },
  ])('$name is refused', ({ json }) => {
    expect(verdict(`{"iss":${json}}`, rules)).toBe('issuer')
  })

  test('an absent one is refused, unless any will do', () => {
    expect(verdict({}, rules)).toBe('issuer')
    expect(verdict({}, ANY_TIME)).toBe('accepted')
    expect(verdict({ iss: ['anything'] }, ANY_TIME)).toBe('accepted')
  })

  test('no listed issuer accepts no token', () => {
    expect(verdict({ iss: 'https://a.example' }, { ...ANY_TIME, issuer: [] })).toBe('issuer')
  })
})

describe('aud', () => {
  const rules = { ...ANY_TIME, audience: ['https://api.example', 'api'] }

  test.each([
    { name: 'a text', json: '"api"' },
    { name: 'the other text', json: '"https://api.example"' },
    { name: 'a list of one', json: '["api"]' },
    { name: 'a list with others before it', json: '["x","y","api"]' },
    { name: 'a list with others after it', json: '["api","x"]' },
    { name: 'a list with both', json: '["https://api.example","api"]' },
  ])('$name is accepted', ({ json }) => {
    expect(verdict(`{"aud":${json}}`, rules)).toBe('accepted')
  })

  const orMissing = { ...ANY_TIME, audience: ['https://api.example', null] }

  test.each<[title: string, claims: string, outcome: string]>([
    ['no aud', '{}', 'accepted'],
    ['an empty list', '{"aud":[]}', 'accepted'],
    ['this API', '{"aud":"https://api.example"}', 'accepted'],
    ['this API among others', '{"aud":["other","https://api.example"]}', 'accepted'],
    ['another API', '{"aud":"other"}', 'audience'],
    ['other APIs', '{"aud":["other","another"]}', 'audience'],
    ['an empty text', '{"aud":""}', 'audience'],
    ['a list of an empty text', '{"aud":[""]}', 'audience'],
    ['null', '{"aud":null}', 'audience'],
    ['a list of null', '{"aud":[null]}', 'audience'],
    ['null beside this API', '{"aud":[null,"https://api.example"]}', 'audience'],
    ['a list within a list', '{"aud":[[]]}', 'audience'],
    ['an object', '{"aud":{}}', 'audience'],
    ['false', '{"aud":false}', 'audience'],
    ['0', '{"aud":0}', 'audience'],
    ['the text null', '{"aud":"null"}', 'audience'],
  ])('where it may be missing, %s', (_, claims, outcome) => {
    expect(verdict(claims, orMissing)).toBe(outcome)
  })

  test.each([
    { name: 'another audience', json: '"other"' },
    { name: 'another case', json: '"API"' },
    { name: 'a beginning', json: '"ap"' },
    { name: 'a longer text', json: '"api2"' },
    { name: 'a trailing slash', json: '"https://api.example/"' },
    { name: 'both in one text', json: '"https://api.example api"' },
    { name: 'an empty text', json: '""' },
    { name: 'an empty list', json: '[]' },
    { name: 'a list of others', json: '["x","y"]' },
    { name: 'a list with a number after the right one', json: '["api",1]' },
    { name: 'a list with null before the right one', json: '[null,"api"]' },
    { name: 'a list within a list', json: '[["api"]]' },
    { name: 'a list with an object', json: '["api",{}]' },
    { name: 'an object', json: '{"0":"api"}' },
    { name: 'null', json: 'null' },
    { name: 'true', json: 'true' },
    { name: 'a number', json: '1' },
  ])('$name is refused', ({ json }) => {
    expect(verdict(`{"aud":${json}}`, rules)).toBe('audience')
  })

  test('an absent one is refused, unless any will do', () => {
    expect(verdict({}, rules)).toBe('audience')
    expect(verdict({}, ANY_TIME)).toBe('accepted')
    expect(verdict({ aud: [1, null] }, ANY_TIME)).toBe('accepted')
  })
})

test('of several findings the first in order is the reason', () => {
  const rules = { ...RULES, issuer: ['us'], audience: ['api'], requiredClaims: anyOf('sub') }
  const claims = { exp: NOW - 100, nbf: 'soon', iat: NOW + 100, iss: 'them', aud: 'other' }
  const repairs = [
    {},
    { iss: 'us' },
    { aud: 'api' },
    { sub: 'ada' },
    { nbf: NOW + 100 },
    { exp: NOW + 1000 },
    { nbf: NOW },
    { iat: NOW },
  ]
  const reasons = repairs.map((repair) => verdict(Object.assign(claims, repair), rules))
  expect(reasons).toEqual([
    'issuer',
    'audience',
    'missing_claim',
    'claim',
    'expired',
    'not_yet_valid',
    'issued_in_future',
    'accepted',
  ])
})

/** What is wrong with a token, by the order in which it is looked for. */
const DEFECTS: readonly (readonly [name: string, change: object, reason: string])[] = [
  ['a security event', { events: { 'https://a.example/e': {} } }, 'type'],
  ['iss', { iss: 'them' }, 'issuer'],
  ['aud', { aud: ['other'] }, 'audience'],
  ['no exp', { exp: undefined }, 'missing_claim'],
  ['no iat', { iat: undefined }, 'missing_claim'],
  ['no sub', { sub: undefined }, 'missing_claim'],
  ['an nbf that is no time', { nbf: 'soon' }, 'claim'],
  ['exp', { exp: NOW - 100 }, 'expired'],
  ['nbf', { nbf: NOW + 100 }, 'not_yet_valid'],
  ['iat ahead', { iat: NOW + 100 }, 'issued_in_future'],
  ['iat long ago', { iat: NOW - 1000 }, 'too_old'],
  ['another value', { token_use: 'id' }, 'claim'],
]

describe('of two defects the one that is looked for first is the reason', () => {
  const rules: ClaimRules = {
    ...RULES,
    issuer: ['us'],
    audience: ['api'],
    maxTokenAge: 600,
    requiredClaims: [...anyOf('sub'), { name: 'token_use', values: ['access'] }],
  }
  const sound = { iss: 'us', aud: 'api', exp: NOW + 60, iat: NOW, sub: 'ada', token_use: 'access' }
  const pairs = DEFECTS.flatMap((first, at) =>
    DEFECTS.slice(at).map((second) => [first[0], second[0], first, second] as const),
  )

  test('a token without one is accepted', () => {
    expect(verdict(sound, rules)).toBe('accepted')
  })

  test.each(pairs)('%s, %s', (_one, _other, first, second) => {
    // Of two about one claim the token has the first.
    expect(verdict({ ...sound, ...second[1], ...first[1] }, rules)).toBe(first[2])
  })
})

test('a fault that is no refusal is not taken for an answer', () => {
  const rules: ClaimRules = {
    ...RULES,
    get issuer(): null {
      throw new RangeError('a fault')
    },
  }
  expect(() => couldBeAccepted(encode({ exp: NOW + 60 }), rules, NOW)).toThrow(RangeError)
})

test('a security event is refused before anything else is said of its claims, and asks for no key', () => {
  const events = { 'https://schemas.test/event': {} }
  expect(verdict({ exp: NOW - 60, iss: 7, events }, { ...RULES, issuer: ['x'] })).toBe('type')
  expect(verdict({ events }, { ...ANY_TIME, isAccessToken: false })).toBe('accepted')
  expect(checked(() => checkClaims(encode({ events }), ANY_TIME, NOW, true))).toBe('accepted')
})

describe('whether a token was issued after a time', () => {
  test.each<[string, string | object, boolean]>([
    ['later than clocks may differ', { iat: NOW + 5.1 }, true],
    ['as much later as clocks may differ', { iat: NOW + 5 }, false],
    ['before', { iat: NOW - 1 }, false],
    ['it does not say', {}, false],
    ['it says so in a text', { iat: String(NOW + 60) }, false],
    ['it is no JSON', 'text', false],
  ])('%s', (_title, payload, answer) => {
    expect(wasIssuedAfter(encode(payload), RULES, NOW)).toBe(answer)
  })
})
