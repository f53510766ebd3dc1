import { challengeComplaints, type Complaint, takesBearer } from './challenge.ts'
import type { Claim } from './claims.ts'
import type { ProbeCase } from './credentials.ts'
import type { Answer, NoAnswer } from './exchange.ts'

// Judges one answer of the API by what was sent, and by what a verifier of ours says of the token.

export interface Probed {
  readonly probe: ProbeCase
  readonly answer: Answer | NoAnswer
  /** Why a verifier refuses the token, and how it answers. */
  readonly refusal: { readonly reason: string; readonly status: number } | undefined
  /** Whether a verifier accepts the token; `undefined` if it cannot be told. */
  readonly isAccepted: boolean | undefined
}

const FORGED = 'let through, though anybody can write such a token (RFC 8725)'

/** For each kind of request, the status that people expect, and what it means if it is let through. */
const KINDS: Readonly<Record<ProbeCase['kind'], readonly [expected: string, accepted?: string]>> = {
  missing: ['401', 'let through without a token'],
  malformed: ['401', 'let through, though the header is not one Bearer token'],
  invalid_request: ['400', 'let through, though there are two Authorization headers'],
  unproven: ['401', FORGED],
  good: ['any'],
  minted: ['any'],
  like_good: ['the same'],
  two_headers: ['400'],
  forged_first: [
    '400',
    'let through with a forged token in the first header, for the one in the second',
  ],
  wrong_claim: ['401'],
}

const ACCEPTED_CLAIM: Readonly<Record<Claim, string>> = {
  exp: 'let through, though the token has expired (RFC 7519 section 4.1.4)',
  nbf: 'let through, though the token is not valid yet (RFC 7519 section 4.1.5)',
  iss: 'let through, though the token names another issuer (RFC 8725 section 3.8)',
  aud: 'let through, though the token is for another audience (RFC 8725 section 3.9)',
}

export function expectedStatus({ probe: { kind }, refusal, isAccepted }: Probed): string {
  if (kind === 'good' && refusal !== undefined) return String(refusal.status)
  return kind === 'good' && isAccepted === true ? 'not 401' : KINDS[kind][0]
}

/** @param right The status for a token that is right; for a `wrong_claim`, for the one that is otherwise like it. */
export function complaintsAbout(probed: Probed, right: number | undefined): readonly Complaint[] {
  const { probe, answer } = probed
  if (answer.failure !== undefined) return [{ level: 'unclear', text: answer.failure }]
  const text = 'the answer repeats the token, which then is in logs and pages'
  return [
    ...(repeatsToken(probe, answer) ? [{ level: 'problem' as const, text }] : []),
    ...complaint(statusComplaint(probed, answer, right)),
    ...challengeComplaints(probe, answer),
  ]
}

type Said = readonly [level: Complaint['level'], text: string] | undefined

function complaint(said: Said): readonly Complaint[] {
  return said === undefined ? [] : [{ level: said[0], text: said[1] }]
}

function statusComplaint(probed: Probed, answer: Answer, right: number | undefined): Said {
  const { kind } = probed.probe
  const { status } = answer
  const isLikeRight = status === right && status !== 401
  if (kind === 'good') return aboutGood(probed, answer)
  // The API need not know who a minted token is for, so no refusal of it is a mistake.
  if (kind === 'minted') return NOTHING_THERE.get(status) ?? aboutFailure(status)
  if (kind === 'like_good') {
    if (right === undefined || status === right) return undefined
    return ['warning', `${status}, not ${right}: schemes have no case (RFC 9110 section 11.1)`]
  }
  if (kind === 'two_headers' && (isLikeRight || status < 300)) {
    return ['note', 'one of two Authorization headers is read, the other is ignored: better 400']
  }
  if ((kind === 'wrong_claim' || kind === 'forged_first') && isLikeRight && status >= 300) {
    return ['note', `${status}, as for a valid token: probe a request that your token may make`]
  }
  return aboutRefusal(probed.probe, answer)
}

const AMBIGUOUS: ReadonlySet<string> = new Set(['invalid_request', 'two_headers', 'forged_first'])

const MAY_BE_NOTHING: Said = ['unclear', 'there may be nothing at this URL, for this method']
const NOTHING_THERE: ReadonlyMap<number, Said> = new Map([
  [404, MAY_BE_NOTHING],
  [405, MAY_BE_NOTHING],
])

function aboutFailure(status: number): Said {
  return status >= 500 ? ['problem', `${status}: the API failed`] : undefined
}

function aboutRefusal({ kind, claim }: ProbeCase, { status, headers }: Answer): Said {
  if (status < 300)
    return ['breach', claim === undefined ? (KINDS[kind][1] ?? FORGED) : ACCEPTED_CLAIM[claim]]
  if (status < 400) return ['problem', 'a redirect: clients of an API need the status 401']
  if (AMBIGUOUS.has(kind) && status === 400) return undefined
  if (AMBIGUOUS.has(kind) && status === 401) {
    return ['note', '401 for what is no proper request: better 400 (RFC 6750 section 3.1)']
  }
  if (kind === 'malformed' && status === 400) {
    return ['note', '400: a client with such a token does not log in again: better 401']
  }
  if (status === 401) return undefined
  if (status === 400 || status === 403) {
    return ['problem', `${status}, not 401: a client does not log in again (RFC 6750 section 3.1)`]
  }
  if (status === 429) return ['unclear', 'too many requests for this API']
  if (status === 503 && headers['retry-after'] !== undefined) {
    return ['unclear', '503 with Retry-After: the API cannot tell at the moment']
  }
  return (
    NOTHING_THERE.get(status) ?? [
      'problem',
      `${status}, not 401: what a stranger sends must not make an API fail`,
    ]
  )
}

function aboutGood({ probe: { claim }, isAccepted, refusal }: Probed, answer: Answer): Said {
  const { status } = answer
  if (NOTHING_THERE.has(status)) return MAY_BE_NOTHING
  if (status < 300 && claim !== undefined) return ['breach', ACCEPTED_CLAIM[claim]]
  if (refusal !== undefined) {
    if (status === refusal.status) return undefined
    const text = `${status}, but a verifier answers ${refusal.status}: ${refusal.reason}`
    return [status < 400 && !ABOUT_TIME.has(refusal.reason) ? 'problem' : 'note', text]
  }
  if (status === 401 && claim !== undefined) return undefined
  if (status === 401 && !takesBearer(answer)) {
    return ['note', 'refused: the API takes DPoP-bound tokens alone, and bearer tokens were sent']
  }
  if (status === 401) {
    const advice =
      isAccepted === true
        ? 'a verifier accepts it: compare issuer, audience, keys and clock of the API'
        : 'portcullis explain says why, with the keys of the issuer'
    return ['problem', `refused; ${advice}`]
  }
  if (status === 403) return ['note', '403: the token lacks a permission for this request']
  return aboutFailure(status)
}

/** An API may tolerate more than we do. What none may tolerate is named by the claim of the request. */
const ABOUT_TIME: ReadonlySet<string> = new Set(['expired', 'not_yet_valid'])

/** Characters. Shorter parts may be in an answer by chance. */
const TELLING = 20

function repeatsToken({ token = '' }: ProbeCase, { headers, body }: Answer): boolean {
  const parts = token.split('.').filter((part) => part.length >= TELLING)
  const text = `${JSON.stringify(headers)}\n${body}`
  return parts.some((part) => text.includes(part))
}
