import type { JsonObject } from '@portcullis/core'
import { isJsonObject, member, parseJson } from '@portcullis/kit/json'
import type { EventTransmitter } from '@portcullis/testing'

import { AUDIENCE, ISSUER } from './scene.ts'

// A transmitter that manages streams, as OpenID Shared Signals Framework 1.0 sections 7 and 8 have it.

const SUPPORTED = [
  'https://schemas.openid.net/secevent/caep/event-type/session-revoked',
  'https://schemas.openid.net/secevent/caep/event-type/credential-change',
  'https://schemas.openid.net/secevent/risc/event-type/account-disabled',
]

export const METADATA_URL = `${ISSUER}/.well-known/ssf-configuration`
export const CONFIGURATION = `${ISSUER}/ssf/stream`
export const STATUS = `${ISSUER}/ssf/status`
export const VERIFICATION = `${ISSUER}/ssf/verify`
export const POLL = `${ISSUER}/ssf/poll`

export interface Sent {
  readonly method: string
  readonly url: string
  readonly body: JsonObject | undefined
}

export interface StreamTransmitterOptions {
  readonly allowsSeveral?: boolean
  /** As some keep it. */
  readonly keep?: (configuration: JsonObject) => JsonObject
  /** As some answer, in place of what they keep. */
  readonly metadata?: (metadata: JsonObject) => unknown
  readonly show?: (configuration: JsonObject) => JsonObject
  readonly ids?: string[]
}

interface Held {
  configuration: JsonObject
  status: string
  readonly queue: EventTransmitter
}

/** @param newQueue Of the events of a stream. */
export function streamTransmitter(
  newQueue: () => EventTransmitter,
  options: StreamTransmitterOptions = {},
) {
  const { allowsSeveral = true, keep = same, metadata = same, show = same, ids = [] } = options
  const streams = new Map<string, Held>()
  const requests: Sent[] = []
  let count = 0
  let events = 0

  const shown = (id: string) => {
    const { delivery, ...configuration } = streams.get(id)?.configuration ?? {}
    // The secret of a push is not repeated.
    const { authorization_header: _, ...rest } = isJsonObject(delivery) ? delivery : {}
    return show({ ...configuration, delivery: rest })
  }

  function write(id: string, body: JsonObject): void {
    const { configuration: before = {}, status = 'enabled', queue } = streams.get(id) ?? {}
    const requested = body['events_requested'] ?? member(before, 'events_requested')
    const delivery = body['delivery'] ?? member(before, 'delivery')
    const isPolled = isJsonObject(delivery) && delivery['method'] === 'urn:ietf:rfc:8936'
    const configuration = keep({
      ...before,
      ...body,
      stream_id: id,
      iss: ISSUER,
      aud: [AUDIENCE],
      events_supported: SUPPORTED,
      events_delivered: SUPPORTED.filter(
        (type) => Array.isArray(requested) && requested.includes(type),
      ),
      delivery: isPolled
        ? { method: 'urn:ietf:rfc:8936', endpoint_url: `${POLL}/${id}` }
        : delivery,
    })
    streams.set(id, { configuration, status, queue: queue ?? newQueue() })
  }

  /** What a request has brought about, at once. */
  async function handle({ method, url, body = {} }: Sent, init: RequestInit): Promise<Response> {
    const { origin, pathname, searchParams } = new URL(url)
    const named = searchParams.get('stream_id') ?? String(body['stream_id'])
    const place = `${origin}${pathname}`
    if (url === METADATA_URL) return Response.json(metadata(METADATA))
    if (place.startsWith(`${POLL}/`)) {
      const held = streams.get(pathname.split('/').at(-1) ?? '')
      return held === undefined ? NOT_FOUND() : await held.queue.pollFetch(url, init)
    }
    if (place === CONFIGURATION && method === 'POST') {
      if (!allowsSeveral && streams.size > 0) return new Response(null, { status: 409 })
      const id = ids.shift() ?? `stream-${String((count += 1)).padStart(3, '0')}`
      write(id, body)
      return Response.json(shown(id), { status: 201 })
    }
    if (place === CONFIGURATION && method === 'GET') {
      return Response.json([...streams.keys()].map(shown))
    }
    const held = streams.get(named)
    if (held === undefined) return NOT_FOUND()
    if (place === CONFIGURATION && method === 'DELETE') {
      streams.delete(named)
      return new Response(null, { status: 204 })
    }
    if (place === CONFIGURATION) {
      write(named, body)
      return Response.json(shown(named))
    }
    if (place === STATUS) {
      if (method === 'POST') held.status = String(body['status'])
      return Response.json({ stream_id: named, status: held.status })
    }
    await publish(named, 'verification', { state: body['state'] })
    return new Response(null, { status: 204 })
  }

  async function publish(id: string, type: string, event: JsonObject, of = id): Promise<string> {
    const jti = `s-${(events += 1)}`
    const subject = { format: 'opaque', id: of }
    const queue = streams.get(id)?.queue
    if (queue === undefined) throw new Error('there is no such stream')
    queue.publish(jti, await queue.securityEvent({ type, subject, event, claims: { jti } }))
    return jti
  }

  return {
    streams,
    requests,
    publish,
    /** Of a stream of somebody's. */
    put: (id: string, body: JsonObject) => {
      write(id, body)
    },
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const sent = sentBy(url, init)
      requests.push(sent)
      return await handle(sent, init)
    },
    /** Those that were sent to one place, in words. */
    sent: (place: string) =>
      requests.filter(({ url }) => url.split('?')[0] === place).map(({ method }) => method),
  }
}

export const METADATA: JsonObject = {
  spec_version: '1_0',
  issuer: ISSUER,
  jwks_uri: `${ISSUER}/jwks`,
  delivery_methods_supported: ['urn:ietf:rfc:8935', 'urn:ietf:rfc:8936'],
  configuration_endpoint: CONFIGURATION,
  status_endpoint: STATUS,
  verification_endpoint: VERIFICATION,
  authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
  default_subjects: 'ALL',
}

function same<Value>(value: Value): Value {
  return value
}

const NOT_FOUND = () => new Response(null, { status: 404 })

export function sentBy(url: string, { method = 'GET', body }: RequestInit): Sent {
  const read = typeof body === 'string' ? parseJson(body) : undefined
  return { method, url, body: isJsonObject(read) ? read : undefined }
}
