import { challengeComplaints, takesBearer } from './challenge.ts'
import type { Claim } from './claims.ts'
import { breach, type Complaint, note, problem, unclear, warning } from './complaint.ts'
import type { ProbeCase } from './credentials.ts'
import type { Answer, NoAnswer } from './exchange.ts'

// Judges one answer of the API by what was sent, and by what a verifier of ours says of the token.

/** A request, its answer, and what `explain` says of the token. */
export interface Probed {
  readonly probe: ProbeCase
  readonly answer: Answer | NoAnswer
  /** Why a verifier refuses the token, and how it answers. */
  readonly refusal: { readonly reason: string; readonly status: number } | undefined
  /** Whether a verifier accepts the token; `undefined` if it cannot be told. */
  readonly isAccepted: boolean | undefined
}

/** The status that an answer should have, as people write it. */
export function expectedStatus({ probe, refusal, isAccepted }: Probed): string {
  switch (probe.kind) {
    case 'missing':
    case 'malformed':
    case 'unproven':
    case 'wrong_claim':
      return '401'
    case 'invalid_request':
    case 'two_headers':
    case 'forged_first':
      return '400'
    case 'like_good':
      return 'the same'
    case 'minted':
      return 'any'
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

/** @param right The status for a token that is right; for a `wrong_claim`, for the one that is otherwise like it. */
export function complaintsAbout(probed: Probed, right: number | undefined): readonly Complaint[] {
  const { probe, answer } = probed
  if (answer.failure !== undefined) return [unclear(answer.failure)]
  const echo = repeatsToken(probe, answer)
    ? [problem('the answer repeats the token, which then is in logs and pages')]
    : []
  return [
    ...echo,
    ...statusComplaints(probed, answer, right),
    ...challengeComplaints(probe, answer),
  ]
}

function statusComplaints(
  probed: Probed,
  answer: Answer,
  right: number | undefined,
): readonly Complaint[] {
  const { probe } = probed
  const { status } = answer
  const isLikeRight = status === right && status !== 401
  switch (probe.kind) {
    case 'good':
      return goodComplaints(probed, answer)
    case 'minted':
      return mintedComplaints(answer)
    case 'like_good':
      if (right === undefined || status === right) return []
      return [warning(`${status}, not ${right}: schemes have no case (RFC 9110 section 11.1)`)]
    case 'two_headers':
      if (isLikeRight || status < 300) return [note(FIRST_HEADER)]
      break
    case 'wrong_claim':
    case 'forged_first':
      if (isLikeRight && status >= 300) return [note(`${status}, ${LIKE_RIGHT}`)]
      break
    case 'missing':
    case 'malformed':
    case 'unproven':
    case 'invalid_request':
      break
    default:
      return unknownKind(probe.kind)
  }
  return refusalComplaints(probe, answer)
}

const FIRST_HEADER = 'one of two Authorization headers is read, the other is ignored: better 400'
const LIKE_RIGHT = 'as for a valid token: probe a request that your token may make'

const ACCEPTED: Readonly<Partial<Record<ProbeCase['kind'], string>>> = {
  missing: 'let through without a token',
  malformed: 'let through, though the header is not one Bearer token',
  invalid_request: 'let through, though there are two Authorization headers',
  forged_first: 'let through with a forged token in the first header, for the one in the second',
}
const ACCEPTED_FORGED = 'let through, though anybody can write such a token (RFC 8725)'

const ACCEPTED_CLAIM: Readonly<Record<Claim, string>> = {
  exp: 'let through, though the token has expired (RFC 7519 section 4.1.4)',
  nbf: 'let through, though the token is not valid yet (RFC 7519 section 4.1.5)',
  iss: 'let through, though the token names another issuer (RFC 8725 section 3.8)',
  aud: 'let through, though the token is for another audience (RFC 8725 section 3.9)',
}

/** What can be read in two ways. */
const AMBIGUOUS: ReadonlySet<string> = new Set(['invalid_request', 'two_headers', 'forged_first'])

/** About what has to be refused. */
function refusalComplaints(
  { kind, claim }: ProbeCase,
  { status, headers }: Answer,
): readonly Complaint[] {
  if (status < 300) {
    return [
      breach(claim === undefined ? (ACCEPTED[kind] ?? ACCEPTED_FORGED) : ACCEPTED_CLAIM[claim]),
    ]
  }
  if (status < 400) return [problem('a redirect: clients of an API need the status 401')]
  if (AMBIGUOUS.has(kind) && status === 400) return []
  if (AMBIGUOUS.has(kind) && status === 401) {
    return [note('401 for what is no proper request: better 400 (RFC 6750 section 3.1)')]
  }
  if (kind === 'malformed' && status === 400) {
    return [note('400: a client with such a token does not log in again: better 401')]
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
function goodComplaints(
  { probe: { claim }, isAccepted, refusal }: Probed,
  answer: Answer,
): readonly Complaint[] {
  const { status } = answer
  if (status === 404 || status === 405) return [unclear(NOTHING_THERE)]
  if (status < 300 && claim !== undefined) return [breach(ACCEPTED_CLAIM[claim])]
  if (refusal !== undefined) {
    if (status === refusal.status) return []
    const text = `${status}, but a verifier answers ${refusal.status}: ${refusal.reason}`
    return [status < 400 && !ABOUT_TIME.has(refusal.reason) ? problem(text) : note(text)]
  }
  if (status === 401 && claim !== undefined) return []
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

/** An API may tolerate more than we do. What none may tolerate is named by the claim of the request. */
const ABOUT_TIME: ReadonlySet<string> = new Set(['expired', 'not_yet_valid'])

/** About a token that the issuer has minted. The API need not know who it is for, so no refusal is a mistake. */
function mintedComplaints({ status }: Answer): readonly Complaint[] {
  if (status === 404 || status === 405) return [unclear(NOTHING_THERE)]
  return status >= 500 ? [problem(`${status}: the API failed`)] : []
}

/** Characters. Shorter parts may be in an answer by chance. */
const TELLING = 20

function repeatsToken({ token = '' }: ProbeCase, { headers, body }: Answer): boolean {
  const parts = token.split('.').filter((part) => part.length >= TELLING)
  const text = `${JSON.stringify(headers)}\n${body}`
  return parts.some((part) => text.includes(part))
}
