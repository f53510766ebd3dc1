import type { KeyPhases } from '@portcullis/testing'

import type { Track } from './schedule.ts'

// Says of one answer whether it may be, by what was known when the request was sent. All times are seconds of the wall clock of the
// process that judges, which is never set.

/** Of the workers' key caches and replicas. Short, so that each word of their policy is reached. */
export const POLICY = {
  maxAge: 15,
  staleWhileRevalidate: 15,
  staleIfError: 60,
  maxStaleness: 5,
} as const

/**
 * What a token is when it is sent. A genuine one is `early` before its key is published, `withdrawn` after that, and `revoked` after its
 * session.
 */
export type Kind = 'genuine' | 'early' | 'withdrawn' | 'revoked' | 'forged' | 'expired' | 'foreign'

export interface Call {
  readonly kind: Kind
  readonly sent: number
  readonly answered: number
  /** `undefined` if there was no answer. */
  readonly status: number | undefined
  /** When the key that signed the token was in the key document. */
  readonly published: KeyPhases['published']
  /** Whether that was later than when it was signed: then it may have asked in vain, and asks again only after a while. */
  readonly isEarly?: boolean
  /** When the log-out of its session was acknowledged. */
  readonly revokedAt?: number | undefined
}

/** What can be disturbed; and `machine`, which is not by the schedule: others keep it busy. */
export type Cause = Track | 'machine'

/** What was disturbed, and when. */
export interface History {
  /** Whether something of a track was in force in that time. Of `clock` and `fleet`: at the worker that was called. */
  wasDisturbed(track: Cause, from: number, until: number): boolean
}

/** Whether nothing could excuse a refusal of a genuine token. If this is rare, the run proves little. */
export function isStrict(call: Call, history: History): boolean {
  const refused = { ...call, kind: 'genuine' } as const
  return [401, 503].every((status) => judge({ ...refused, status }, history).verdict === 'wrong')
}

/** `right`; `outage`: refused with a reason that is known; `wrong`, and why. */
export type Judgement = { readonly verdict: 'right' | 'outage' } | Wrong
interface Wrong {
  readonly verdict: 'wrong'
  readonly why: string
}

const RIGHT = { verdict: 'right' } as const
const OUTAGE = { verdict: 'outage' } as const
const wrong = (why: string): Wrong => ({ verdict: 'wrong', why })

/** Answers are late, and processes share two cores. Seconds. */
const SLACK = 5
/** The longest pause of a key cache with its jitter, and the deadline before it. */
const AFTER_OUTAGE = 45
/** Forged tokens come all the time, so a suspicion may have to wait for its budget: 15 s. */
const AFTER_FLOOD = 20
/** For how long a key that was withdrawn may be trusted. */
const TRUSTED = POLICY.maxAge * 1.1 + POLICY.staleWhileRevalidate
const TRUSTED_IN_OUTAGE = POLICY.maxAge * 1.1 + POLICY.staleIfError

export function judge(call: Call, history: History): Judgement {
  const { status } = call
  if (status === undefined) return judgeSilence(call, history)
  if (status === 503) return judgeOutage(call, history)
  if (status === 200) return judgeAcceptance(call, history)
  if (status === 401) return judgeRefusal(call, history)
  return wrong(`status ${status}`)
}

function judgeSilence({ sent, answered }: Call, history: History): Judgement {
  const isExplained = history.wasDisturbed('fleet', sent - SLACK, answered)
  return isExplained ? OUTAGE : wrong('no answer')
}

function judgeOutage({ sent, answered }: Call, history: History): Judgement {
  const causes = [
    ['issuer', AFTER_OUTAGE],
    ['load', AFTER_FLOOD],
    ['store', AFTER_FLOOD],
    // A replica is not current until the store has answered.
    ['clock', POLICY.maxStaleness + SLACK],
    ['fleet', POLICY.maxStaleness + SLACK],
    ['machine', POLICY.maxStaleness + SLACK],
  ] as const
  const isExplained = causes.some(([track, after]) =>
    history.wasDisturbed(track, sent - after, answered),
  )
  return isExplained ? OUTAGE : wrong('503, and nothing was disturbed')
}

function judgeAcceptance(call: Call, history: History): Judgement {
  const { kind, sent, revokedAt = Infinity } = call
  if (kind === 'forged' || kind === 'expired' || kind === 'foreign')
    return wrong(`${kind} accepted`)
  if (sent > revokedAt + POLICY.maxStaleness + SLACK) return wrong('revoked, and accepted')
  const since = withdrawnSince(call)
  const hadOutage = history.wasDisturbed('issuer', since - TRUSTED, sent)
  const bound = hadOutage ? TRUSTED_IN_OUTAGE : TRUSTED
  return sent > since + bound + SLACK ? wrong('key withdrawn, and accepted') : RIGHT
}

function judgeRefusal(call: Call, history: History): Judgement {
  const { kind, sent, answered, published, isEarly = false } = call
  if (kind !== 'genuine') return RIGHT
  const since = publishedSince(call)
  // Its key has left while it was asked about, or came back before.
  if (since === undefined || since > sent) return OUTAGE
  const mayPause = published.length > 1 || isEarly
  if (mayPause && sent < since + AFTER_OUTAGE) return OUTAGE
  if (sent < since + AFTER_FLOOD) return OUTAGE
  const isNew = sent < since + AFTER_OUTAGE
  const causes = ['issuer', 'load'] as const
  const isExplained =
    isNew &&
    (history.wasDisturbed('fleet', since, answered) ||
      causes.some((track) => history.wasDisturbed(track, since - AFTER_OUTAGE, answered)))
  return isExplained ? OUTAGE : wrong('genuine, and refused')
}

/** When its key last came into the document, if it is there. */
function publishedSince({ published }: Call): number | undefined {
  const last = published.at(-1)
  return last?.until === undefined ? last?.from : undefined
}

/** When its key last left the document; never is later than any time. */
function withdrawnSince({ published }: Call): number {
  const last = published.at(-1)
  return last === undefined ? Infinity : (last.until ?? Infinity)
}
