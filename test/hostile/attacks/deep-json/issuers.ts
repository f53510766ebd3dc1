import { createOAuthClient, OAuthError } from '@portcullis/client/oauth'
import { AuthError, localRevocations } from '@portcullis/core'
import { pollEvents, receiveEvents, receiveLogout } from '@portcullis/events'
import { introspected } from '@portcullis/introspection'
import {
  createTestIssuer,
  introspectionService,
  manualClock,
  tokenService,
} from '@portcullis/testing'

import { answered, collect } from './program.ts'
import { BODY_TEXTS, encoded } from './texts.ts'

// A program: what asks an authorization server, and what it sends events to, get hostile texts, and then sound ones.

const ROUNDS = 6
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = { headers: { 'content-type': 'application/json' } }

const issuer = await createTestIssuer({ algorithm: 'ES256', issuer: 'https://auth.test' })
const opaque = introspectionService(issuer)
const oauth = tokenService(issuer, { clients: { shop: { secret: 'secret' } } })
const { keys } = issuer.verifierOptions
const revocations = localRevocations()
const shared = { keys, issuer: 'https://auth.test', revocations, revokes: 'subject' } as const
const logout = receiveLogout({ ...shared, clientId: 'shop' })
const signals = receiveEvents({ ...shared, audience: 'shop', authorize: null })

for (let round = 0; round < ROUNDS; round++) {
  for (const text of BODY_TEXTS) {
    const answer = async () => await Promise.resolve(new Response(text, JSON_TYPE))
    answered('introspection', 'hostile', await introspect('token', answer))
    answered('grant', 'hostile', await grant(answer))
    const refusal = async () =>
      await Promise.resolve(new Response(text, { ...JSON_TYPE, status: 400 }))
    answered('refused grant', 'hostile', await grant(refusal))
    answered('poll', 'hostile', await polled(answer))
    for (const token of [
      `${encoded(text)}.e30.AAAA`,
      `${encoded('{"alg":"ES256"}')}.${encoded(text)}.AAAA`,
    ]) {
      answered('log-out', 'hostile', await send(logout, `logout_token=${token}`, FORM))
      answered('event', 'hostile', await send(signals, token, 'application/secevent+jwt'))
    }
  }
  collect()
}
answered('introspection', 'sound', await introspect(opaque.issue(), opaque.fetch))
answered('grant', 'sound', await grant(oauth.fetch))
answered(
  'poll',
  'sound',
  await polled(async () => await Promise.resolve(Response.json({ sets: {} }))),
)

async function introspect(token: string, fetch: typeof opaque.fetch): Promise<string> {
  try {
    await introspected({ ...opaque.verifierOptions, fetch }).verify(token)
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return error.reason
    throw error
  }
}

async function grant(fetch: typeof oauth.fetch): Promise<string> {
  const tokens = createOAuthClient({
    tokenEndpoint: `${oauth.authUrl}/token`,
    clientId: 'shop',
    clientSecret: 'secret',
    origins: [],
    fetch,
  })
  try {
    await tokens.get()
    return 'a token'
  } catch (error) {
    if (error instanceof OAuthError) return error.code
    throw error
  }
}

/** What a poll makes of its first answer. The second one never comes. */
async function polled(answer: () => Promise<Response>): Promise<string> {
  const clock = manualClock()
  let polls = 0
  const poll = pollEvents({
    ...shared,
    endpoint: 'https://auth.test/poll',
    audience: 'shop',
    clock,
    fetch: async () => {
      polls += 1
      return polls === 1 ? await answer() : await new Promise(() => undefined)
    },
  })
  const isJudged = () => polls === 2
  while (!isJudged()) await clock.advance(1)
  const { state } = poll.status()
  await poll.close()
  return state
}

async function send(receiver: typeof logout, body: string, type: string): Promise<number> {
  const { status } = await receiver.answer({ headers: { 'content-type': type }, body })
  return status
}
