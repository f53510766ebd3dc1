import type { JsonObject } from '@portcullis/core'
import { isText, ownMembers } from '@portcullis/kit/options'

import { DEFAULT_REVOKE_ON } from './event-types.ts'
import { createEventProver } from './event-verifier.ts'
import { inTime, type Limits } from './in-time.ts'
import { createInbox, type Inbox, type ReadClaims } from './inbox.ts'
import { limitsOf } from './option-checks.ts'
import type { AppleEventOptions, MappedSubject, SecurityEventOptions } from './options.ts'
import { APPLE, readAppleEvent } from './read-apple-event.ts'
import {
  entriesOf,
  type MappedWhose,
  readSecurityEvent,
  type SecurityEvent,
} from './read-security-event.ts'
import type { RefusedEvent } from './refused-event.ts'

// The inbox for security events, however they come: pushed or polled.

/** What else the receiver of a stream has to see in the claims of an event: `undefined`, or why it is refused. */
export type Heed = (claims: JsonObject) => RefusedEvent | undefined

/** @param options Checked. @param reportedAs What diagnostics call the source of the events. */
export function createSecurityEventInbox(
  options: SecurityEventOptions,
  reportedAs: () => object,
  heed?: Heed,
): Inbox {
  const { audience, type, revocations, onEvent, revokeOn = DEFAULT_REVOKE_ON } = options
  const prove = createEventProver(options, {
    audience,
    maxTokenAge: undefined,
    type: 'secevent+jwt',
    isTypeOptional: type === null,
  })
  const limits = limitsOf(options)
  const readEvent = (claims: JsonObject) => {
    const event = readSecurityEvent(claims, revokeOn)
    return (event.err === undefined ? heed?.(claims) : undefined) ?? event
  }
  const read = createReader(readEvent, options, limits)
  return createInbox({ prove, read, revocations, limits, onEvent, reportedAs })
}

/** Of an issuer with a form of its own. @param options Checked. */
export function createAppleInbox(options: AppleEventOptions, reportedAs: () => object): Inbox {
  const { clientId, revocations, onEvent } = options
  const rules = { ...options, issuer: APPLE, revokes: 'subject' } as const
  const prove = createEventProver(rules, {
    audience: clientId,
    maxTokenAge: undefined,
    type: 'secevent+jwt',
    // Apple names no type.
    isTypeOptional: true,
  })
  const limits = limitsOf(options)
  const read = createReader(readAppleEvent, rules, limits)
  return createInbox({ prove, read, revocations, limits, onEvent, reportedAs })
}

function createReader(
  readEvent: (claims: JsonObject) => SecurityEvent | RefusedEvent,
  {
    revokes,
    maxTokenLifetime,
    mapSubject,
  }: Pick<SecurityEventOptions, 'revokes' | 'maxTokenLifetime' | 'mapSubject'>,
  limits: Limits,
): ReadClaims {
  return async (claims) => {
    const event = readEvent(claims)
    if (event.err !== undefined) return event
    const { iss, cuts } = event
    const mapped = new Map<JsonObject, MappedWhose | undefined>()
    for (const { subject, types } of cuts) {
      if (mapSubject === undefined || mapped.has(subject)) continue
      const context = Object.freeze({ iss, types })
      const answer = await inTime('mapSubject', limits, () => mapSubject(subject, context))
      mapped.set(subject, isNobody(answer) ? undefined : checkMapped(answer))
    }
    return entriesOf(event, { revokes, maxTokenLifetime }, mapped)
  }
}

/** Applications without types say `null` of a user whom their database does not have. */
function isNobody(answer: MappedSubject | null | undefined): answer is null | undefined {
  return answer === undefined || answer === null
}

const CLAIMS = ['sub', 'sid', 'jti'] as const
const KNOWN: ReadonlySet<string> = new Set(['iss', ...CLAIMS])

/** @throws TypeError unless it names one user, session or token: less would revoke all tokens of the issuer. */
function checkMapped(answer: MappedSubject): MappedWhose {
  const mapped = ownMembers(answer)
  const [claim, ...others] = CLAIMS.filter((name) => mapped[name] !== undefined)
  const value = claim && mapped[claim]
  const { iss } = mapped
  const isKnown = Object.keys(mapped).every((name) => KNOWN.has(name))
  if (!isKnown || claim === undefined || others.length > 0 || isText(value) !== undefined) {
    // Mistake error-mapsubject-it-must-answer `mapSubject: it must answer undefined, or name one of`: Your function has answered
    // something else. Without one of them all tokens of the issuer would be meant, so nothing was revoked, and the event was not
    // acknowledged.
    throw new TypeError('mapSubject: it must answer undefined, or name one of sub, sid and jti')
  }
  if (iss !== undefined && isText(iss) !== undefined) {
    // Mistake error-mapsubject-iss-must-be `mapSubject: iss must be the issuer of the tokens, or left out`: Your function has
    // answered an empty `iss` or no text. Such an entry would fit no token, so the event was not acknowledged.
    throw new TypeError('mapSubject: iss must be the issuer of the tokens, or left out')
  }
  return { claim, value: String(value), iss }
}
