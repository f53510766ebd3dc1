import { createOAuthClient } from '@portcullis/client/oauth'
import type { JsonObject } from '@portcullis/core'
import { type EventStream, openStream, type PushedEventStream } from '@portcullis/events'
import { createTestIssuer, eventTransmitter, type EventTokenOptions } from '@portcullis/testing'

import { AUDIENCE, ISSUER } from '../../packages/events/test/scene.ts'
import { DESCRIPTION, streamScene } from '../../packages/events/test/stream-scene.ts'
import { CONFIGURATION, METADATA_URL } from '../../packages/events/test/stream-transmitter.ts'

// A receiver as the modules of the OpenID Foundation's suite expect one: its stream at a transmitter of OAuth with tokens that last 20
// seconds, and events that come by push or by poll.

export type Delivery = 'push' | 'poll'

const PUSH = 'https://api.test/push'
const SECRET = 'Bearer 6Zs1hbpnUbKkJpQ9zWq0yQ'
const LIFETIME = 20

/** What the receiver has said of an event: `accepted`, or `err`. */
export type Said = 'accepted' | (string & {})

export async function receiverOf(
  delivery: Delivery,
  { show, older }: { show?: (configuration: JsonObject) => JsonObject; older?: JsonObject } = {},
) {
  const scene = await streamScene({}, show && { show }, 'RS256')
  const { clock, issuer, transmitter, settings, until } = scene
  if (older !== undefined) transmitter.put('older', { description: DESCRIPTION, ...older })
  let issued = 0
  const tokens = new Map<string, number>()
  const challenged: string[] = []

  const client = createOAuthClient({
    tokenEndpoint: `${ISSUER}/token`,
    clientId: 'receiver',
    clientSecret: 'a secret of this client alone',
    scope: 'ssf.manage ssf.read',
    origins: [ISSUER],
    clock,
    async fetch(url, init) {
      if (url === `${ISSUER}/token`) {
        const token = `token-${(issued += 1)}`
        tokens.set(token, clock.now() + LIFETIME)
        return Response.json({ access_token: token, token_type: 'Bearer', expires_in: LIFETIME })
      }
      const { authorization } = Object.fromEntries(new Headers(init?.headers))
      const isCurrent = (tokens.get(authorization?.replace('Bearer ', '') ?? '') ?? 0) > clock.now()
      if (!isCurrent && url !== METADATA_URL) {
        challenged.push(url)
        const challenge = 'Bearer error="invalid_token"'
        return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } })
      }
      return await settings.fetch(url, init ?? {})
    },
  })
  const options = {
    ...settings,
    events: ['session-revoked', 'credential-change'],
    algorithms: ['RS256'] as const,
    fetch: client.fetch,
    mapSubject: ({ format, email }: JsonObject) =>
      format === 'email' ? { sub: `the user of ${String(email)}` } : undefined,
  }
  const deliver = { endpoint: PUSH, authorization: SECRET }
  const stream: EventStream | PushedEventStream = scene.opened(
    delivery === 'push' ? openStream({ ...options, deliver }) : openStream(options),
  )
  const forger = async () =>
    eventTransmitter(await createTestIssuer({ clock, issuer: ISSUER, algorithm: 'RS256' }), {
      audience: AUDIENCE,
    })
  const signer = eventTransmitter(issuer, { audience: AUDIENCE })
  let count = 0

  /** Hands a token to the receiver, and tells what it says. */
  async function hand(jti: string, token: string): Promise<Said> {
    if ('receiver' in stream) {
      const headers = { 'content-type': 'application/secevent+jwt', authorization: SECRET }
      const request = new Request(PUSH, { method: 'POST', headers, body: token })
      const response = await stream.receiver.fetch(request)
      if (response.status === 202) return 'accepted'
      const { err, description } = (await response.json()) as Record<string, unknown>
      const isWhole = response.status === 400 && typeof description === 'string'
      return isWhole ? String(err) : `answered ${response.status}`
    }
    const queue = transmitter.streams.get(idOf())?.queue
    const before = queue?.acknowledged().length ?? 0
    queue?.publish(jti, token)
    await until(
      () => queue?.acknowledged().length === before + 1 || queue?.errors().has(jti) === true,
    )
    return queue?.errors().get(jti)?.err ?? 'accepted'
  }

  function idOf(): string {
    return stream.status().streamId ?? ''
  }

  return {
    ...scene,
    stream,
    signer,
    forger,
    challenged,
    tokensIssued: () => issued,
    idOf,
    hand,
    opened: async () => {
      await until(() => stream.status().state === 'open')
    },
    /** Signs an event, and hands it to the receiver. */
    tell: async (event: EventTokenOptions, by = signer): Promise<Said> => {
      const { jti = `told-${(count += 1)}`, ...others } = event.claims ?? {}
      const claims = { jti, ...others }
      return await hand(String(jti), await by.securityEvent({ ...event, claims }))
    },
    /** What was asked about streams: methods, in their order. */
    calls: () => transmitter.sent(CONFIGURATION),
  }
}

export type Receiver = Awaited<ReturnType<typeof receiverOf>>
