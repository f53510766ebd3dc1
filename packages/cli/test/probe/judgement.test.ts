import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { complaintsAbout, expectedStatus } from '../../src/probe/judgement.ts'
import { badKind } from '../../src/probe/kinds.ts'

type Probed = Parameters<typeof complaintsAbout>[0]
type Sent = Partial<Pick<Probed['probe'], 'kind' | 'check' | 'accepted'>>

const RIGHT = { failure: undefined, status: 200, headers: {}, body: '{"sub":"ada"}' }

/** What is said of an answer, beside what the challenge should be. */
function saidOf(probe: Sent, status: number, { refusal, headers = {}, body = '' }: Given = {}) {
  const challenge = { 'www-authenticate': 'Bearer realm="api"', 'cache-control': 'no-store' }
  const answer = { failure: undefined, status, headers: { ...challenge, ...headers }, body }
  const sent = { name: 'a', authorization: [], token: undefined, ...probe }
  const probed = { probe: sent, answer, refusal, isAccepted: undefined } as unknown as Probed
  return complaintsAbout(probed, RIGHT).map(({ level, text }) => `${level}: ${text}`)
}

interface Given {
  readonly refusal?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const wrong = (name: string): Sent => ({ kind: 'wrong', ...badKind(name) })

test.each<[string, Sent, number, string | undefined]>([
  ['two headers with 400', { kind: 'invalid_request' }, 400, undefined],
  ['two headers with 403', { kind: 'invalid_request' }, 403, 'problem: 403, not 401'],
  ['a forged token with 400', { kind: 'unproven' }, 400, 'problem: 400, not 401'],
  ['a forged token with 500', { kind: 'unproven' }, 500, 'problem: 500, not 401: what a stranger'],
  ['a forged token that is let through', { kind: 'unproven' }, 204, 'breach: let through'],
  ['a wrong audience with 500', wrong('wrong audience'), 500, 'problem: 500, not 401'],
  ['a wrong audience let through', wrong('wrong audience'), 204, 'breach: let through, though'],
  ['no exp, let through', wrong('missing expiry'), 200, 'breach: let through, though the token ha'],
  ['a log-out token, let through', wrong('logout token'), 200, 'breach: let through, though its t'],
  ['an unknown crit, let through', wrong('critical header'), 200, 'problem: let through, though'],
  ['a bound token, let through', wrong('bound to nothing that is known'), 200, 'warning: let thro'],
  ['a name twice, let through', wrong('duplicate members'), 200, 'warning: let through, though'],
  ['no claims, let through', wrong('not JSON'), 200, 'breach: let through, though its claims can'],
  ['a wrong one as a right one', { kind: 'elsewhere' }, 404, 'unclear: there may be nothing'],
  ['too large, and let through', { kind: 'too_large', ...badKind('too large') }, 200, 'note: let'],
  ['too large, forged, and let through', { kind: 'too_large' }, 200, 'breach: let through, though'],
  ['too large with 431', { kind: 'too_large' }, 431, undefined],
  ['too large with 414', { kind: 'too_large' }, 414, undefined],
  ['too large with 500', { kind: 'too_large' }, 500, 'problem: 500, not 401'],
  ['HEAD with 200', { kind: 'head' }, 200, 'breach: HEAD is let through without a token'],
  ['HEAD with 401', { kind: 'head' }, 401, undefined],
  ['HEAD with 405', { kind: 'head' }, 405, undefined],
  ['HEAD with 501', { kind: 'head' }, 501, undefined],
  ['HEAD with 500', { kind: 'head' }, 500, 'problem: 500: the API failed'],
])('%s', (_title, probe, status, said) => {
  expect(saidOf(probe, status)[0]?.slice(0, said?.length)).toBe(said)
})

const HANDLED = 'breach: OPTIONS is let through to the code behind the guard'
const ALLOW = { allow: 'GET, HEAD' }
const ORIGIN = { 'access-control-allow-origin': '*' }
const CORS = { ...ORIGIN, 'access-control-allow-headers': 'authorization' }

test.each<[string, number, Given, string | undefined]>([
  ['by CORS middleware', 204, { headers: CORS }, undefined],
  ['by CORS middleware with 200 and a text', 200, { headers: CORS, body: 'ok' }, undefined],
  ['by the framework, with the methods', 200, { headers: ALLOW, body: 'GET, HEAD' }, undefined],
  ['by nothing but a status', 204, {}, undefined],
  ['by the guard', 401, {}, undefined],
  ['by nobody', 404, {}, undefined],
  ['as a right token is, behind CORS', 200, { headers: CORS, body: RIGHT.body }, HANDLED],
  [
    'with a text of somebody that all origins may read',
    200,
    { headers: ORIGIN, body: '{"sub":"eve"}' },
    HANDLED,
  ],
  ['with a text of somebody', 200, { body: '{"sub":"eve"}' }, HANDLED],
  ['by a failure', 500, {}, 'problem: 500: the API failed'],
])('OPTIONS without a token, answered %s', (_title, status, given, said) => {
  expect(saidOf({ kind: 'options' }, status, given)[0]).toBe(said)
})

test.each<[string, number, string | undefined]>([
  ['let through', 200, 'breach: let through, though the token has expired'],
  ['that fails', 500, 'problem: 500: the API failed'],
  ['refused', 403, 'note: 403: the token lacks a permission'],
  ['refused as it has to be', 401, undefined],
])('a token of the user that has expired, %s', (_title, status, said) => {
  const [first] = saidOf({ kind: 'good', check: 'exp' }, status)
  expect(first?.slice(0, said?.length)).toBe(said)
})

test('an answer that never came is undecided, and that to a token of 16 KiB is a refusal', () => {
  const answer = { failure: 'the connection failed (ECONNRESET)' }
  const probed = (kind: Probed['probe']['kind']): Probed => ({
    probe: { name: 'a', kind, authorization: [], token: undefined },
    answer,
    refusal: undefined,
    isAccepted: undefined,
  })
  expect(complaintsAbout(probed('unproven'), RIGHT)).toMatchObject([{ level: 'unclear' }])
  expect(complaintsAbout(probed('too_large'), RIGHT)).toEqual([])
  expect(expectedStatus(probed('too_large'))).toBe('4xx')
})

test.each(['RS512', 'ES256'] as const)(
  'each kind of bad token of an issuer with %s says what it means if it is let through',
  async (algorithm) => {
    const options = { algorithm, issuer: 'https://auth.test', audience: 'api' }
    const issuer = await createTestIssuer(options)
    const names = (await issuer.badTokens()).map(({ name }) => name)
    expect(names.filter((name) => badKind(name) === undefined)).toEqual([])
  },
)
