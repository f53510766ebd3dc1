import { expect, test } from 'vitest'

import { complaintsAbout } from '../../src/probe/judgement.ts'

type Probed = Parameters<typeof complaintsAbout>[0]

/** What is said of a status, beside what the challenge should be. */
function saidOf(probe: Pick<Probed['probe'], 'kind' | 'claim'>, status: number, refusal?: object) {
  const answer = { status, headers: { 'www-authenticate': 'Bearer realm="api"' }, body: '' }
  const sent = { name: 'a', authorization: [], token: undefined, ...probe }
  const probed = { probe: sent, answer, refusal, isAccepted: undefined } as unknown as Probed
  return complaintsAbout(probed, 200).map(({ level, text }) => `${level}: ${text}`)
}

test.each<[string, Pick<Probed['probe'], 'kind' | 'claim'>, number, string | undefined]>([
  ['two headers with 400', { kind: 'invalid_request' }, 400, undefined],
  ['two headers with 403', { kind: 'invalid_request' }, 403, 'problem: 403, not 401'],
  ['a forged token with 400', { kind: 'unproven' }, 400, 'problem: 400, not 401'],
  ['a forged token with 500', { kind: 'unproven' }, 500, 'problem: 500, not 401: what a stranger'],
  ['a forged token that is let through', { kind: 'unproven' }, 204, 'breach: let through'],
  ['a wrong claim with 500', { kind: 'wrong_claim', claim: 'aud' }, 500, 'problem: 500, not 401'],
  ['a wrong claim let through', { kind: 'wrong_claim', claim: 'aud' }, 204, 'breach: let through'],
])('%s', (_title, probe, status, said) => {
  expect(saidOf(probe, status)[0]?.slice(0, said?.length)).toBe(said)
})

test.each<[string, number, string | undefined]>([
  ['let through', 200, 'breach: let through, though the token is for another audience'],
  ['that fails', 500, 'problem: 500: the API failed'],
  ['refused', 403, 'note: 403: the token lacks a permission'],
])('a token of the user with a claim that is wrong here, %s', (_title, status, said) => {
  expect(saidOf({ kind: 'good', claim: 'aud' }, status)[0]?.slice(0, said?.length)).toBe(said)
})
