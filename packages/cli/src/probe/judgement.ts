import type { ProbeCase } from './cases.ts'
import { challengeComplaints, takesBearer } from './challenge.ts'
import type { Complaint, Said } from './complaints.ts'
import type { Answer, NoAnswer } from './exchange.ts'
import { ACCEPTED, FORGED } from './kinds.ts'
import { aboutHead, aboutOptions } from './methods.ts'

// Judges one answer of the API by what was sent, and by what a verifier of ours says of the token.

export interface Probed {
  readonly probe: ProbeCase
  readonly answer: Answer | NoAnswer
  /** Why a verifier refuses the token, and how it answers. */
  readonly refusal: { readonly reason: string; readonly status: number } | undefined
  /** Whether a verifier accepts the token; `undefined` if it cannot be told. */
  readonly isAccepted: boolean | undefined
}

/** For each kind of request, the status that people expect, and what it means if it is let through. */
const KINDS: Readonly<Record<ProbeCase['kind'], readonly [expected: string, accepted?: string]>> = {
  missing: ['401', 'let through without a token'],
  malformed: ['401', 'let through, though the header is not one Bearer token'],
  invalid_request: ['400', 'let through, though there are two Authorization headers'],
  unproven: ['401'],
  too_large: ['4xx'],
  good: ['any'],
  minted: ['any'],
  like_good: ['the same'],
  elsewhere: ['401'],
  two_headers: ['400'],
  forged_first: [
    '400',
    'let through with a forged token in the first header, for the one in the second',
  ],
  wrong: ['401'],
  lacking: ['403', 'let through, though the token lacks a scope that the description names'],
  head: ['not 2xx'],
  options: ['any'],
}

export function expectedStatus({ probe: { kind }, refusal, isAccepted }: Probed): string {
  if (kind === 'good' && refusal !== undefined) return String(refusal.status)
  return kind === 'good' && isAccepted === true ? 'not 401' : KINDS[kind][0]
}

/** @param right The answer to a token that is right; for a `wrong`, to the one that is otherwise like it. */
export function complaintsAbout(
  probed: Probed,
  right: Answer | NoAnswer | undefined,
): readonly Complaint[] {
  const { probe, answer } = probed
  if (answer.failure !== undefined) {
    // A server that hangs up in the middle of such a header has not let it through.
    return probe.kind === 'too_large' ? [] : [{ level: 'unclear', text: answer.failure }]
  }
  const text = 'the answer repeats the token, which then is in logs and pages'
  return [
    ...(repeatsToken(probe, answer) ? [{ level: 'problem' as const, text }] : []),
    ...complaint(statusComplaint(probed, answer, right)),
    ...challengeComplaints(probe, answer),
  ]
}

function complaint(said: Said | undefined): readonly Complaint[] {
  return said === undefined ? [] : [{ level: said[0], text: said[1] }]
}

function statusComplaint(
  probed: Probed,
  answer: Answer,
  rightAnswer: Answer | NoAnswer | undefined,
): Said | undefined {
  const { kind } = probed.probe
  const { status } = answer
  const right = rightAnswer?.failure === undefined ? rightAnswer?.status : undefined
  const isLikeRight = status === right && status !== 401
  if (kind === 'good') return aboutGood(probed, answer)
  if (kind === 'head') return aboutHead(answer)
  if (kind === 'options') return aboutOptions(answer, rightAnswer)
  if (kind === 'lacking') return aboutLacking(probed.probe, status)
  // The API need not know who a minted token is for, so no refusal of it is a mistake.
  if (kind === 'minted') return NOTHING_THERE.get(status) ?? aboutFailure(status)
  if (kind === 'like_good') {
    if (right === undefined || status === right) return undefined
    return ['warning', `${status}, not ${right}: schemes have no case (RFC 9110 section 11.1)`]
  }
  if (kind === 'two_headers' && (isLikeRight || status < 300)) {
    return ['note', 'one of two Authorization headers is read, the other is ignored: better 400']
  }
  if (LIKE_RIGHT_IF_ACCEPTED.has(kind) && isLikeRight && status >= 300) {
    return ['note', `${status}, as for a valid token: probe a request that your token may make`]
  }
  return aboutRefusal(probed.probe, answer)
}

const LIKE_RIGHT_IF_ACCEPTED: ReadonlySet<string> = new Set([
  'wrong',
  'too_large',
  'forged_first',
  'elsewhere',
])

const AMBIGUOUS: ReadonlySet<string> = new Set(['invalid_request', 'two_headers', 'forged_first'])

const MAY_BE_NOTHING: Said = ['unclear', 'there may be nothing at this URL, for this method']
const NOTHING_THERE: ReadonlyMap<number, Said> = new Map([
  [404, MAY_BE_NOTHING],
  [405, MAY_BE_NOTHING],
])

function aboutFailure(status: number): Said | undefined {
  return status >= 500 ? ['problem', `${status}: the API failed`] : undefined
}

const FORMLESS: ReadonlySet<number> = new Set([400, 415])

function aboutRefusal(probe: ProbeCase, { status, headers }: Answer): Said | undefined {
  const { kind, form } = probe
  if (status < 300) return acceptedOf(probe)
  if (status < 400) return ['problem', 'a redirect: clients of an API need the status 401']
  if (AMBIGUOUS.has(kind) && status === 400) return undefined
  if (AMBIGUOUS.has(kind) && status === 401) {
    return ['note', '401 for what is no proper request: better 400 (RFC 6750 section 3.1)']
  }
  // It takes no forms, so nobody reads a token in one.
  if (form !== undefined && FORMLESS.has(status)) return undefined
  if (kind === 'malformed' && status === 400) {
    return ['note', '400: a client with such a token does not log in again: better 401']
  }
  // Servers and proxies have a limit of their own, and a status of their own for it.
  if (status === 401 || (kind === 'too_large' && status < 500)) return undefined
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

/** An API may look at the request before it looks at the scopes, which then nothing shows. */
function aboutLacking(probe: ProbeCase, status: number): Said | undefined {
  if (status === 403) return undefined
  if (status < 300) return acceptedOf(probe)
  const untold = `${status}, not 403: it does not say whether the scopes of the token were looked at`
  return NOTHING_THERE.get(status) ?? aboutFailure(status) ?? ['unclear', untold]
}

function acceptedOf({ kind, accepted }: ProbeCase): Said {
  const [, text] = KINDS[kind]
  return accepted ?? (text === undefined ? FORGED : ['breach', text])
}

function aboutGood(
  { probe: { check }, isAccepted, refusal }: Probed,
  answer: Answer,
): Said | undefined {
  const { status } = answer
  if (NOTHING_THERE.has(status)) return MAY_BE_NOTHING
  if (status < 300 && (check === 'exp' || check === 'nbf')) return ACCEPTED[check]
  if (refusal !== undefined) {
    if (status === refusal.status) return undefined
    const text = `${status}, but a verifier answers ${refusal.status}: ${refusal.reason}`
    return [status < 400 && !ABOUT_TIME.has(refusal.reason) ? 'problem' : 'note', text]
  }
  if (status === 401 && check !== undefined) return undefined
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

/** An API may tolerate more than we do. What none may tolerate is named by the check of the request. */
const ABOUT_TIME: ReadonlySet<string> = new Set(['expired', 'not_yet_valid'])

/** Characters. Shorter parts may be in an answer by chance. */
const TELLING = 20

function repeatsToken({ token = '' }: ProbeCase, { headers, body }: Answer): boolean {
  const parts = token.split('.').filter((part) => part.length >= TELLING)
  const text = `${JSON.stringify(headers)}\n${body}`
  return parts.some((part) => text.includes(part))
}
