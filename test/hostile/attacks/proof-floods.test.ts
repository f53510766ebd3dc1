import {
  authenticateRequest,
  AuthError,
  createVerifier,
  dpopProofs,
  localKeys,
  localReplays,
} from '@portcullis/core'
import { createTestIssuer, type DpopClient, dpopClient } from '@portcullis/testing'
import { expect, test } from 'vitest'

// Floods of sound proofs, which anybody can make: it takes a key, and nobody's leave.

const URL_OF_REQUEST = 'https://api.example/a'

const [issuer, stranger] = await Promise.all([createTestIssuer(), createTestIssuer()])
const [client, other] = await Promise.all([dpopClient(), dpopClient()])
const keys = localKeys({ keys: [issuer.publicJwk] })
const verifier = createVerifier({ keys, issuer: null, audience: null })
const replays = localReplays({ max: 100, maxPerKey: 10 })
const options = { dpop: dpopProofs({ origin: 'https://api.example', replays }) }

async function send(token: string, by: DpopClient = client): Promise<string> {
  const headers = await by.headers({ url: URL_OF_REQUEST, method: 'GET', token })
  const request = new Request(URL_OF_REQUEST, { headers: { ...headers } })
  try {
    await authenticateRequest(verifier, request, options)
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return error.reason
    throw error
  }
}

test('proofs of senders without a token that holds fill nothing, whatever the token is', async () => {
  const refused: readonly (readonly [reason: string, token: string])[] = [
    ['malformed', 'a.b.c'],
    ['signature', await stranger.token({ boundTo: client, header: { kid: issuer.publicJwk.kid } })],
    ['expired', await issuer.token({ boundTo: client, claims: { exp: 1 } })],
    ['binding', await issuer.token({ boundTo: other })],
    ['binding', await issuer.token()],
  ]
  for (const [reason, token] of refused) {
    const verdicts = await Promise.all(Array.from({ length: 120 }, async () => await send(token)))
    expect(new Set(verdicts)).toEqual(new Set([reason]))
  }
  expect(replays.size).toBe(0)
})

test('a client that fills its share leaves room for others, with proofs by 600 new keys in between', async () => {
  const [token, another] = await Promise.all(
    [client, other].map(async (boundTo) => await issuer.token({ boundTo })),
  )
  const verdicts: string[] = []
  for (let count = 0; count < 15; count += 1) verdicts.push(await send(token ?? ''))
  expect(verdicts).toEqual([
    ...Array<string>(10).fill('accepted'),
    ...Array<string>(5).fill('full'),
  ])
  for (let count = 0; count < 600; count += 1) {
    expect(await send(another ?? '', await dpopClient())).toBe('binding')
  }
  expect(await send(another ?? '', other)).toBe('accepted')
  expect(replays.size).toBe(11)
})
