import { type JsonObject, isJsonObject, member, textMember } from '@portcullis/kit/json'

import { nameIn } from './reading.ts'
import { type Method, METHODS, type Trust, trustedUrl } from './stream-metadata.ts'
import { TransmitterError } from './transmitter-error.ts'

// The configuration of a stream: what is asked for, which streams are ours, and what an answer must say.
// OpenID Shared Signals Framework 1.0 section 8.1.1

/** What is asked for. It contains a secret, and is shown nowhere. */
export interface Wanted {
  readonly description: string
  readonly delivery: {
    readonly method: Method
    readonly endpoint_url?: string
    readonly authorization_header?: string
  }
  readonly events_requested: readonly string[]
}

/** One of ours that can be used. */
export interface Stream {
  readonly id: string
  /** What is polled; of no meaning for a stream that is pushed. */
  readonly endpoint: string | undefined
  /** The types of events that it delivers: URIs. */
  readonly delivered: readonly string[]
  /** Seconds without a call of ours, after which the transmitter may end it. */
  readonly inactivityTimeout: number | undefined
  readonly isAsWanted: boolean
}

/** Characters. It becomes a part of URLs. */
const LONGEST_ID = 1024

/** @throws TransmitterError for what is no configuration of a stream. */
export function idOf(configuration: unknown): string {
  const id = isJsonObject(configuration) ? nameIn(configuration, 'stream_id') : undefined
  if (id === undefined || id.length > LONGEST_ID) {
    throw new TransmitterError('the transmitter names a stream without a usable stream_id')
  }
  return id
}

/**
 * The configurations that are listed, by their ids: one that is there twice, as where pages of a list overlap, is one stream. Drafts of the
 * framework write a single one without a list. @throws TransmitterError
 */
export function listed(answer: unknown): ReadonlyMap<string, JsonObject> {
  const list: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  const byId = new Map<string, JsonObject>()
  for (const each of list) {
    const id = idOf(each)
    // `idOf` has refused everything else.
    if (isJsonObject(each)) byId.set(id, each)
  }
  return byId
}

/**
 * Whether a stream is this one of ours: by its description, which others of the same client do not have. A transmitter that keeps no
 * description still keeps where it pushes to.
 */
export function isOurs(configuration: JsonObject, { description, delivery }: Wanted): boolean {
  const stated = textMember(configuration, 'description') ?? ''
  if (stated !== '') return stated === description
  const { endpoint_url: endpoint } = delivery
  return endpoint !== undefined && deliveryMember(configuration, 'endpoint_url') === endpoint
}

/** @throws TransmitterError for a stream of another issuer or audience, or without what it must have. */
export function readStream(
  configuration: JsonObject,
  wanted: Wanted,
  trust: Trust,
  audience: readonly string[],
): Stream {
  const id = idOf(configuration)
  if (member(configuration, 'iss') !== trust.transmitter) {
    throw new TransmitterError('the stream is of another issuer')
  }
  const named: unknown = member(configuration, 'aud')
  const names: readonly unknown[] = Array.isArray(named) ? named : [named]
  if (!names.some((name) => audience.some((each) => each === name))) {
    throw new TransmitterError('the stream is for another audience')
  }
  const delivered = member(configuration, 'events_delivered')
  if (!isTexts(delivered)) throw new TransmitterError('the stream has no list events_delivered')
  const isPolled = deliveryMember(configuration, 'method') === METHODS.poll
  return {
    id,
    endpoint: isPolled
      ? trustedUrl(deliveryMember(configuration, 'endpoint_url'), 'endpoint_url', trust)
      : undefined,
    delivered: Object.freeze([...delivered]),
    inactivityTimeout: timeoutOf(member(configuration, 'inactivity_timeout')),
    isAsWanted: isSame(configuration, wanted),
  }
}

/** What is not repeated, such as the secret of a push, counts as another. */
function isSame(configuration: JsonObject, wanted: Wanted): boolean {
  const requested = member(configuration, 'events_requested')
  return (
    member(configuration, 'description') === wanted.description &&
    Object.entries(wanted.delivery).every(
      ([name, value]) => deliveryMember(configuration, name) === value,
    ) &&
    isTexts(requested) &&
    new Set(requested).size === wanted.events_requested.length &&
    wanted.events_requested.every((type) => requested.includes(type))
  )
}

function deliveryMember(configuration: JsonObject, name: string): unknown {
  const delivery = member(configuration, 'delivery')
  return isJsonObject(delivery) ? member(delivery, name) : undefined
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function timeoutOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}
