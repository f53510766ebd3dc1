import { expect, test } from 'vitest'

import { digestOf, grantFor } from '../../src/oauth/subject.ts'

const subject = { token: 'subject', end: 1 }
const request = { form: 'token-exchange', actorToken: undefined } as const

test('grants of which the parts read the same when joined have digests of their own', () => {
  const targets = [['x', 'y'], 'xaudiencey', ['xaudience', 'y'], ['xaudiencey', '']]
  const digests = targets.map((audience) =>
    digestOf('shop', grantFor(subject, { ...request, audience })),
  )
  expect(new Set(digests).size).toBe(targets.length)
})

test('the client, the actor and the end are parts of it', () => {
  const base = grantFor(subject, request)
  const digests = [
    digestOf('shop', base),
    digestOf('shops', base),
    digestOf('shop', { ...base, end: 2 }),
    digestOf('shop', { ...base, end: undefined }),
    digestOf('shop', grantFor(subject, { ...request, actorToken: 'a' })),
  ]
  expect(new Set(digests).size).toBe(digests.length)
})
