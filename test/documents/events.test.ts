import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'

import type { Verifier } from '@portcullis/core'
import type { EventPoll } from '@portcullis/events'
import request from 'supertest'
import { afterAll, expect, test, vi } from 'vitest'

import { writtenExamples } from './examples.ts'
import { identityProvider } from './identity-provider.ts'
import { exampleOf } from './markdown.ts'

// The pieces of code in the README of events, as they stand.

const readme = readFileSync(
  fileURLToPath(new URL('../../packages/events/README.md', import.meta.url)),
  'utf8',
)
const examples = writtenExamples('.readme-events')
const provider = await identityProvider()

afterAll(async () => {
  await poll.close()
  await provider[Symbol.asyncDispose]()
  examples.remove()
})

const code = provider.namedIn([0, 1, 2].map((place) => exampleOf(readme, place)).join('\n'))
/** The example needs a client: here it is one whose polls a test answers. */
const CLIENT = `
const waiting = []
export const polls = []
export function answerPoll(sets) {
  waiting.shift()(Response.json({ sets }))
}
const tokens = {
  async fetch(url, init) {
    polls.push([url, init.body])
    return await new Promise((resolve) => waiting.push(resolve))
  },
}
`
const { app, verifier, poll, polls, answerPoll } = (await examples.run(
  'events',
  `${CLIENT}${code}`,
)) as {
  app: RequestListener
  verifier: Verifier
  poll: EventPoll
  polls: readonly (readonly [url: string, body: string])[]
  answerPoll: (sets: object) => void
}

test('a log-out ends the tokens of its session', async () => {
  const token = await provider.token({ claims: { sub: 'ada', sid: 's-1' } })
  await expect(verifier.verify(token)).resolves.toBeDefined()
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const logout = await provider.token({
    claims: { aud: 'my-client', sid: 's-1', jti: 'j-1', events },
    header: { typ: 'logout+jwt' },
  })
  const answer = await request(app)
    .post('/backchannel-logout')
    .type('form')
    .send({ logout_token: logout })
  expect(answer.status).toBe(200)
  await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'revoked' })
})

async function eventOf(sub: string, jti: string): Promise<string> {
  const type = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
  return await provider.token({
    claims: {
      aud: 'https://api.example.com/ssf',
      jti,
      sub_id: { format: 'iss_sub', iss: provider.url, sub },
      events: { [type]: {} },
    },
    header: { typ: 'secevent+jwt' },
    omit: ['exp'],
  })
}

test('a security event ends the tokens of its user, if its sender is known', async () => {
  const bearer = await provider.bearer({ claims: { sub: 'transmitter' } })
  const token = await provider.token({ claims: { sub: 'eve' } })
  const event = await eventOf('eve', 'j-2')
  const push = (headers: object) =>
    request(app)
      .post('/ssf/push')
      .set({ ...headers, 'content-type': 'application/secevent+jwt' })
      .send(event)
  expect((await push({})).status).toBe(401)
  await expect(verifier.verify(token)).resolves.toBeDefined()
  expect((await push(bearer)).status).toBe(202)
  await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'revoked' })
})

test('so does one that is polled, and it is acknowledged', async () => {
  const token = await provider.token({ claims: { sub: 'bob' } })
  answerPoll({ 'j-3': await eventOf('bob', 'j-3') })
  await vi.waitUntil(() => polls.length === 2, 60_000)
  expect(polls).toEqual([
    [`${provider.url}/ssf/poll`, '{"maxEvents":100}'],
    [`${provider.url}/ssf/poll`, '{"maxEvents":100,"ack":["j-3"]}'],
  ])
  await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'revoked' })
  expect(poll.status().state).toBe('current')
})
