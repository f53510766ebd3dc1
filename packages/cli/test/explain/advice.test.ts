import { remoteKeys } from '@portcullis/core'
import { explain, type Explanation } from '@portcullis/core/explain'
import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { timeHints, whatToDo } from '../../src/explain/advice.ts'

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
  expect(whatToDo(await explained(await issuer.token()))).toBeUndefined()
})

test.each(await issuer.badTokens())('$reason, $name: there is advice', async ({ token }) => {
  expect(whatToDo(await explained(token))).toMatch(/^\w.*\w/)
})

test('of keys that cannot be had: to repeat the request', async () => {
  const keys = remoteKeys('https://auth.test/keys', {
    fetch: async () => await Promise.reject(new Error('away')),
  })
  const options = { ...issuer.verifierOptions, keys }
  const explanation = await explain(await issuer.token(), options)
  expect(whatToDo(explanation)).toMatch(/^repeat /)
})

test.each(['unknown', 'revoked'] as const)(
  'revocations that answer %s: there is advice',
  async (answer) => {
    const revocations = { statusOf: () => answer }
    const options = { ...issuer.verifierOptions, revocations }
    const explanation = await explain(await issuer.token(), options)
    expect(whatToDo(explanation)).toMatch(/^(?:ask the user to log in again|repeat the request)\b/)
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
