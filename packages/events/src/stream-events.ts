import { hash, randomBytes } from 'node:crypto'

import type { JsonObject } from '@portcullis/core'
import { isJsonObject, member, textMember } from '@portcullis/kit/json'

import { nameIn } from './reading.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'
import type { Heed } from './security-events.ts'

// Events about the stream itself: its verification, and that the transmitter has changed its status.
// OpenID Shared Signals Framework 1.0 sections 8.1.4.1 and 8.1.5

const OF_STREAM = 'https://schemas.openid.net/secevent/ssf/event-type/'
const VERIFICATION = `${OF_STREAM}verification`
const STREAM_UPDATED = `${OF_STREAM}stream-updated`

/** What a transmitter does with the events of a stream: it sends them, holds them back, or drops them. */
export type Transmission = 'enabled' | 'paused' | 'disabled'

export const TRANSMISSIONS: readonly Transmission[] = ['enabled', 'paused', 'disabled']

/** The status of a stream in an answer or an event; `undefined` for what is none. */
export function transmissionIn(object: unknown): Transmission | undefined {
  const status = isJsonObject(object) ? member(object, 'status') : undefined
  return TRANSMISSIONS.find((each) => each === status)
}

/**
 * The state of a request for verification. It contains a digest of itself, of its stream and of the description, which all processes of
 * an application have: the event may come to another process than the one that has asked, and must not be refused there.
 */
export function newState(description: string, streamId: string): string {
  const nonce = randomBytes(16).toString('base64url')
  return `${nonce}.${digestOf(description, streamId, nonce)}`
}

function isState(state: string, description: string, streamId: string): boolean {
  const [nonce = '', digest, ...more] = state.split('.')
  return more.length === 0 && digest === digestOf(description, streamId, nonce)
}

function digestOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

export interface StreamWatcher {
  readonly description: string
  /** Of the stream that is used; `undefined` while none is known: a transmitter may verify one before it has answered. */
  readonly streamId: () => string | undefined
  readonly onVerified: (state: string) => void
  readonly onStatus: (status: Transmission) => void
}

/** Refuses what is said of another stream, and a verification that nobody has asked for: unlike one without a state, which may come. */
export function createStreamHeed(watcher: StreamWatcher): Heed {
  return (claims) => {
    const events = member(claims, 'events')
    if (!isJsonObject(events)) return undefined
    const [verification, updated] = [member(events, VERIFICATION), member(events, STREAM_UPDATED)]
    if (verification === undefined && updated === undefined) return undefined
    const id = streamIn(claims)
    const own = watcher.streamId()
    if (id === undefined || (own !== undefined && own !== id)) {
      return invalidEvent('sub_id must name this stream')
    }
    return (
      (verification === undefined ? undefined : heedVerification(verification, id, watcher)) ??
      (updated === undefined ? undefined : heedUpdate(updated, watcher))
    )
  }
}

function streamIn(claims: JsonObject): string | undefined {
  const subject = member(claims, 'sub_id')
  const isOpaque = isJsonObject(subject) && member(subject, 'format') === 'opaque'
  return isOpaque ? nameIn(subject, 'id') : undefined
}

const INVALID_STATE: RefusedEvent = {
  err: 'invalid_state',
  description: 'Nobody has asked for a verification with this state',
}

function heedVerification(
  event: unknown,
  streamId: string,
  { description, onVerified }: StreamWatcher,
): RefusedEvent | undefined {
  if (!isJsonObject(event)) return invalidEvent('The verification must be an object')
  if (member(event, 'state') === undefined) return undefined
  const state = textMember(event, 'state')
  if (state === undefined || !isState(state, description, streamId)) return INVALID_STATE
  onVerified(state)
  return undefined
}

function heedUpdate(event: unknown, { onStatus }: StreamWatcher): RefusedEvent | undefined {
  const status = transmissionIn(event)
  if (status === undefined) return invalidEvent('The status of the stream must be one of three')
  onStatus(status)
  return undefined
}
