import { explain, type Explanation } from '@portcullis/core/explain'
import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { adviceOn, timeHints } from '../src/advice.ts'

const clock = manualClock()
const issuer = await createTestIssuer({
  clock,
  algorithm: 'ES256',
  issuer: 'https://auth.test',
  audience: 'api',
  type: 'at+jwt',
  maxTokenAge: 200,
})
const accepted = await issuer.token()
const inMilliseconds = await issuer.token({ claims: { iat: clock.now() * 1000 } })
const unseen = {
  seen: { text: undefined, clockDifference: undefined },
}

async function explained(token: string): Promise<Explanation> {
  return await explain(token, issuer.verifierOptions)
}

test('of a token that is accepted there is none', async () => {
  expect(adviceOn(await explained(await issuer.token()), 'LOGIN')).toBeUndefined()
})

test.each(await issuer.badTokens())(
  '$reason, $name: there is advice',
  async ({ token, reason }) => {
    const explanation = await explained(token)
    const advice = adviceOn(explanation, 'portcullis login')
    // What these lack differs from token to token, and their findings say it.
    if (reason === 'critical_header' || reason === 'claim') return
    expect(advice).toMatch(/^\w.*\w/)
    expect(advice).not.toContain('LOGIN')
  },
)

test.each(['unknown', 'revoked'] as const)(
  'revocations that answer %s: there is advice',
  async (answer) => {
    const revocations = { statusOf: () => answer }
    const options = { ...issuer.verifierOptions, revocations }
    const explanation = await explain(await issuer.token(), options)
    expect(adviceOn(explanation, 'portcullis login')).toMatch(/^l/)
  },
)

describe('where the clock of the token service cannot be seen', () => {
  test('a token of the future says that one of the clocks is wrong', async () => {
    const explanation = await explained(await issuer.token({ claims: { iat: clock.now() + 40 } }))
    expect(timeHints(explanation, unseen, clock.now())).toMatchObject([
      { name: 'clock_differs', text: expect.stringContaining('issued 40 s from now') as string },
    ])
  })

  test('a refusal for a time says where to look', async () => {
    const explanation = await explained(await issuer.token({ expiresIn: -60 }))
    expect(timeHints(explanation, unseen, clock.now())).toMatchObject([{ name: 'clock_not_seen' }])
  })

  test.each<[what: string, token: string]>([
    ['a token that is accepted', accepted],
    ['a token of nobody', 'a.b.c'],
    ['an iat in milliseconds', inMilliseconds],
  ])('%s says nothing of clocks', async (_, token) => {
    const names = timeHints(await explained(token), unseen, clock.now()).map(({ name }) => name)
    expect(names).not.toContain('clock_differs')
  })
})
