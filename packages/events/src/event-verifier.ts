import { AuthError, type JsonObject, type Verifier, type VerifierOptions } from '@portcullis/core'
import { createSelectedVerifier, createUnobservedVerifier } from '@portcullis/core/verifier'
import { isJsonObject, member, parseUnambiguousObject, withoutNulls } from '@portcullis/kit/json'

import { findEventType } from './event-types.ts'
import type { EventOptions } from './options.ts'
import { invalidEvent, type RefusedEvent, refusedBy } from './refused-event.ts'

// Proves events. An event is a token: form, keys, signature, times, issuer and audience are judged as those of access tokens.

/** A proven event; or why there is none, told to the sender (`refused`) or a matter of ours (`failure`). */
export type Proof =
  | { readonly claims: JsonObject; readonly refused: undefined; readonly failure: undefined }
  | { readonly claims: undefined; readonly refused: RefusedEvent; readonly failure: unknown }
  | { readonly claims: undefined; readonly refused: undefined; readonly failure: unknown }

export type ProveEvent = (token: string) => Promise<Proof>

interface Kind {
  readonly audience: string | readonly string[]
  /** Seconds, by `iat`. */
  readonly maxTokenAge: number | undefined
  /** What `typ` must name. With `null` also a token that names no type of its own. */
  readonly type: string
  readonly isTypeOptional: boolean
}

export function createEventProver(options: EventOptions, kind: Kind): ProveEvent {
  const verifier = createEventVerifier(options, kind)
  return async (token) => {
    try {
      await verifier.verify(token)
    } catch (error) {
      const isRefusal = error instanceof AuthError && error.code === 'invalid_token'
      const refused = isRefusal ? refusedBy(error) : undefined
      return { claims: undefined, refused, failure: error }
    }
    // What decides is in inner objects, and a member that is there twice could be read in two ways.
    const claims = parseUnambiguousObject(octetsOf(token, 1))
    if (claims !== undefined) {
      return { claims: presentClaims(claims), refused: undefined, failure: undefined }
    }
    const refused = invalidEvent('The token has a member twice')
    return { claims: undefined, refused, failure: undefined }
  }
}

function createEventVerifier(
  { keys, issuer, algorithms, clockTolerance, clock }: EventOptions,
  { audience, maxTokenAge, type, isTypeOptional }: Kind,
): Verifier {
  const rules: VerifierOptions = {
    keys,
    issuer,
    audience,
    algorithms,
    clockTolerance,
    clock,
    // An event has happened, and does not expire (RFC 8417 section 2.2). Who reads a log-out knows whether `exp` must be there.
    requireExpiry: false,
    maxTokenAge,
    requiredClaims: ['iat', 'jti'],
    // The inbox knows what was seen before, and events come once.
    remember: false,
  }
  const typed = createUnobservedVerifier({ ...rules, type })
  if (!isTypeOptional) return typed
  const untyped = createUnobservedVerifier(rules)
  return createSelectedVerifier([typed, untyped], (token) => (namesNoType(token) ? untyped : typed))
}

/** Selects only: the verifier that is selected judges the type as well. `JWT` says nothing (RFC 7519 section 5.1). */
function namesNoType(token: string): boolean {
  const header = parseUnambiguousObject(octetsOf(token, 0))
  const typ = header === undefined ? undefined : (member(header, 'typ') ?? undefined)
  return typ === undefined || (typeof typ === 'string' && typ.toUpperCase() === 'JWT')
}

/** `null` is absent: so claims are judged, and shown to `mapSubject` and `onEvent`. But an event that revokes stays, to be refused. */
function presentClaims(claims: JsonObject): JsonObject {
  const present = withoutNulls(claims)
  const [named, events] = [member(claims, 'events'), member(present, 'events')]
  if (!isJsonObject(named) || !isJsonObject(events)) return present
  const empty = Object.keys(named).filter((name) => named[name] === null && isKnown(name))
  if (empty.length === 0) return present
  const kept = Object.fromEntries(empty.map((name) => [name, null]))
  return Object.freeze({ ...present, events: Object.freeze({ ...events, ...kept }) })
}

function isKnown(name: string): boolean {
  return findEventType(name) !== undefined
}

function octetsOf(token: string, segment: number): Buffer {
  return Buffer.from(token.split('.', segment + 1)[segment] ?? '', 'base64url')
}
