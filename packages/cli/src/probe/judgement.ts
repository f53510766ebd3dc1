import { assertChallenge } from '@portcullis/testing'

import type { ProbeCase } from './credentials.ts'
import type { Answer, NoAnswer } from './exchange.ts'

/** A request, its answer, and what `explain` says of the token. */
export interface Probed {
  readonly probe: ProbeCase
  readonly answer: Answer | NoAnswer
  /** Why a verifier refuses the token, and how it answers. */
  readonly refusal: { readonly reason: string; readonly status: number } | undefined
  /** Whether a verifier accepts the token; `undefined` if it cannot be told. */
  readonly isAccepted: boolean | undefined
}

/** What is wrong, or worth knowing, about one answer. */
export interface Complaint {
  /** `breach`: let through what has to be refused. `unclear`: the answer says nothing about the credentials. */
  readonly level: 'breach' | 'problem' | 'unclear' | 'note'
  readonly text: string
}

/** The status that an answer should have, as people write it. */
export function expectedStatus({ probe, refusal, isAccepted }: Probed): string {
  switch (probe.kind) {
    case 'missing':
    case 'unproven':
      return '401'
    case 'invalid_request':
      return '400'
    case 'like_good':
      return 'the same'
    case 'good':
      if (refusal !== undefined) return String(refusal.status)
      return isAccepted === true ? 'not 401' : 'any'
    default:
      return unknownKind(probe.kind)
  }
}

function unknownKind(kind: never): never {
  throw new TypeError(`unknown kind of request: ${String(kind)}`)
}

/** @param good The status for the user's own token. */
export function complaintsAbout(probed: Probed, good: number | undefined): readonly Complaint[] {
  const { probe, answer } = probed
  if (answer.failure !== undefined) return [unclear(answer.failure)]
  const echo = repeatsToken(probe, answer)
    ? [problem('the answer repeats the token, which then is in logs and pages')]
    : []
  return [...echo, ...statusComplaints(probed, answer, good), ...challengeComplaints(probe, answer)]
}

function statusComplaints(
  probed: Probed,
  answer: Answer,
  good: number | undefined,
): readonly Complaint[] {
  const { kind } = probed.probe
  const { status } = answer
  if (kind === 'good') return goodComplaints(probed, answer)
  if (kind !== 'like_good') return refusalComplaints(kind, answer)
  if (status === good) return []
  return [problem(`${status}, not ${good}: names of schemes have no case (RFC 9110 section 11.1)`)]
}

const ACCEPTED = {
  missing: 'let through without a token',
  invalid_request: 'let through, though the header is not one Bearer token',
  unproven: 'let through, though anybody can write such a token (RFC 8725)',
} as const

/** About what has to be refused. */
function refusalComplaints(
  kind: keyof typeof ACCEPTED,
  { status, headers }: Answer,
): readonly Complaint[] {
  if (status < 300) return [{ level: 'breach', text: ACCEPTED[kind] }]
  if (status < 400) return [problem('a redirect: clients of an API need the status 401')]
  if (kind === 'invalid_request' && status === 400) return []
  if (kind === 'invalid_request' && status === 401) {
    return [note('401 for what is no proper request: better 400 (RFC 6750 section 3.1)')]
  }
  switch (status) {
    case 401:
      return []
    case 400:
    case 403:
      return [problem(`${status}, not 401: a client does not log in again (RFC 6750 section 3.1)`)]
    case 404:
    case 405:
      return [unclear(NOTHING_THERE)]
    case 429:
      return [unclear('too many requests for this API')]
    default:
      return status === 503 && headers['retry-after'] !== undefined
        ? [unclear('503 with Retry-After: the API cannot tell at the moment')]
        : [problem(`${status}, not 401: what a stranger sends must not make an API fail`)]
  }
}

const NOTHING_THERE = 'there may be nothing at this URL, for this method'

/** About the user's own token. */
function goodComplaints({ isAccepted, refusal }: Probed, answer: Answer): readonly Complaint[] {
  const { status } = answer
  if (status === 404 || status === 405) return [unclear(NOTHING_THERE)]
  if (refusal !== undefined) {
    if (status === refusal.status) return []
    const text = `${status}, but a verifier answers ${refusal.status}: ${refusal.reason}`
    return [status < 400 ? problem(text) : note(text)]
  }
  if (status === 401 && !takesBearer(answer)) {
    return [note('refused: the API takes DPoP-bound tokens alone, and bearer tokens were sent')]
  }
  if (status === 401) {
    const advice =
      isAccepted === true
        ? 'a verifier accepts it: compare issuer, audience, keys and clock of the API'
        : 'portcullis explain says why, with the keys of the issuer'
    return [problem(`refused; ${advice}`)]
  }
  if (status === 403) return [note('403: the token lacks a permission for this request')]
  return status >= 500 ? [problem(`${status}: the API failed`)] : []
}

/** @see RFC 9110 sections 11.6.1 and 15.5.2; RFC 6750 section 3; RFC 9449 section 7.1 */
function challengeComplaints({ kind }: ProbeCase, answer: Answer): readonly Complaint[] {
  if (answer.status !== 401) return []
  const challenge = challengeOf(answer)
  const complaints: Complaint[] = []
  if (challenge === undefined) {
    complaints.push(
      problem('401 without one Bearer challenge (RFC 6750 section 3), or one of DPoP (RFC 9449)'),
    )
  } else if (kind === 'missing' && challenge['error'] !== undefined) {
    complaints.push(note('an error code, though there is no token (RFC 6750 section 3.1)'))
  } else if (kind === 'unproven' && challenge['error'] !== 'invalid_token') {
    complaints.push(note('no error="invalid_token" in the challenge (RFC 6750 section 3.1)'))
  }
  if (!/\bno-store\b/i.test(answer.headers['cache-control'] ?? '')) {
    complaints.push(note('401 without Cache-Control: no-store'))
  }
  return complaints
}

/** The parameters of the one Bearer challenge; of the one for DPoP where the API takes no bearer tokens. */
export function challengeOf(answer: Answer): Readonly<Record<string, string>> | undefined {
  return challengeFor('Bearer', answer) ?? challengeFor('DPoP', answer)
}

/** `false` where the challenge names DPoP alone. */
function takesBearer(answer: Answer): boolean {
  return challengeFor('Bearer', answer) !== undefined || challengeFor('DPoP', answer) === undefined
}

function challengeFor(
  scheme: 'Bearer' | 'DPoP',
  answer: Answer,
): Readonly<Record<string, string>> | undefined {
  try {
    return assertChallenge(answer, { scheme })
  } catch {
    // None, several, or one that cannot be read.
  }
  return undefined
}

/** Characters. Shorter parts may be in an answer by chance. */
const TELLING = 20

function repeatsToken({ token = '' }: ProbeCase, { headers, body }: Answer): boolean {
  const parts = token.split('.').filter((part) => part.length >= TELLING)
  const text = `${JSON.stringify(headers)}\n${body}`
  return parts.some((part) => text.includes(part))
}

function problem(text: string): Complaint {
  return { level: 'problem', text }
}

function note(text: string): Complaint {
  return { level: 'note', text }
}

function unclear(text: string): Complaint {
  return { level: 'unclear', text }
}
