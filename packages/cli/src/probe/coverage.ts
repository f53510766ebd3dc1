import { type ProbeCase, type Place } from './cases.ts'
import { differInExpiryAlone } from './claims.ts'
import { PUBLIC_KEY_MAC } from './credentials.ts'
import type { Probed } from './judgement.ts'
import { type Check, CHECKS } from './kinds.ts'
import { whoAnswered } from './methods.ts'
import { FORGED_IN_FORM } from './places.ts'

// Says which checks a probe has tested and which not. A refusal counts as a test only if the API lets a right token through.

/** Why there is no token in which something is wrong, and what to do for one. */
export type Absent = Readonly<Record<Check, string>>

export function coverageOf(probes: readonly Probed[], absent: Absent) {
  const parts: readonly (readonly [what: string, why: string | undefined])[] = [
    ['a valid token', validUntested(probes)],
    [PUBLIC_KEY_MAC, macUntested(probes)],
    ...CHECKS.map((check) => [check, checkUntested(check, probes, absent[check])] as const),
    ...PLACES.map(([place, why]) => [place, checkUntested(place, probes, why)] as const),
    [FORM, checkUntested(FORM, probes, formAbsent(probes))],
    ['HEAD', methodUntested('head', probes, 'only where a GET is probed: --method GET')],
    ['OPTIONS', optionsUntested(probes)],
  ]
  return {
    tested: parts.flatMap(([what, why]) => (why === undefined ? [what] : [])),
    notTested: parts.flatMap(([what, why]) => (why === undefined ? [] : [{ what, why }])),
  }
}

const PLACES: readonly (readonly [Place, whyAbsent: string])[] = [
  ['other schemes', 'state one of yours: --file, --env or --stdin'],
  [
    '?access_token=',
    'URLs get into logs, so none but a token of `portcullis serve` is sent in one',
  ],
]

const FORM: Place = 'access_token in a form'

function formAbsent(probes: readonly Probed[]): string {
  return probes.some(({ probe }) => probe.name === FORGED_IN_FORM)
    ? 'state one of yours: --file, --env or --stdin'
    : 'only requests that may change something have a form: --method POST, PUT or PATCH'
}

function optionsUntested(probes: readonly Probed[]): string | undefined {
  const why = methodUntested('options', probes, 'it is the method that was probed')
  if (why !== undefined) return why
  const right = probes.find(({ probe }) => isRight(probe))?.answer
  const isUntold = probes.some(
    ({ probe, answer }) =>
      probe.kind === 'options' &&
      answer.failure === undefined &&
      answer.status < 300 &&
      whoAnswered(answer, right) === 'untold',
  )
  return isUntold ? UNTOLD_OPTIONS : undefined
}

const UNTOLD_OPTIONS =
  'CORS middleware may have answered it, or let it go on to the code behind the guard (preflightContinue)'

function validUntested(probes: readonly Probed[]): string | undefined {
  const valid = probes.filter(({ probe }) => isRight(probe))
  if (valid.length === 0) return 'state one of yours: --file, --env or --stdin'
  return valid.some((each) => isLetThrough(each, probes)) ? undefined : NONE_LET_THROUGH
}

const NONE_LET_THROUGH = 'the API answers no valid token otherwise than a forged one'

/** Its claims are those of a valid token. Without one they may be why it is refused. */
function macUntested(probes: readonly Probed[]): string | undefined {
  return probes.some(({ probe }) => probe.name === PUBLIC_KEY_MAC)
    ? validUntested(probes)
    : 'state the key: --auth-url, --keys-url or --keys-file'
}

function methodUntested(
  kind: 'head' | 'options',
  probes: readonly Probed[],
  absent: string,
): string | undefined {
  const sent = probes.filter(({ probe }) => probe.kind === kind)
  if (sent.length === 0) return absent
  const isAnswered = sent.some(
    ({ answer }) => answer.failure === undefined && !saysNothing(answer.status),
  )
  return isAnswered ? undefined : UNTOLD
}

export const UNTOLD = 'the answer does not say whether the token was refused'

function checkUntested(
  check: Check | Place,
  probes: readonly Probed[],
  absent: string,
): string | undefined {
  const about = probes.filter(({ probe }) => probe.check === check)
  if (about.some(({ answer }) => answer.failure === undefined && answer.status < 300)) {
    return undefined
  }
  const sent = about.filter(({ probe }) => probe.kind !== 'good')
  const whys = sent.map((each) => refusalUntold(each, probes))
  return sent.length === 0 ? absent : whys.includes(undefined) ? undefined : whys[0]
}

/** Why the refusal of such a token does not say that it was checked; `undefined` if it does. */
function refusalUntold(probed: Probed, probes: readonly Probed[]): string | undefined {
  const { probe, answer, refusal } = probed
  const right = probes.find(
    (each) =>
      isRight(each.probe) && (probe.wrong === undefined || each.probe.token === probe.wrong.right),
  )
  if (right === undefined) return 'state your valid token as well: --file, --env or --stdin'
  if (probe.wrong?.isMade === false) {
    if (refusal?.reason !== 'expired') {
      return refusal === undefined
        ? 'state the key, so that the signature of the expired token can be checked'
        : `a verifier refuses the expired token for another reason: ${refusal.reason}`
    }
    if (!differInExpiryAlone(probe.token ?? '', right.probe.token ?? '')) {
      return 'your tokens differ in more than their times: in iss, aud, cnf, alg or typ'
    }
  }
  if (!isLetThrough(right, probes)) return NONE_LET_THROUGH
  return answer.failure === undefined && isRefused(answer.status, right) ? undefined : UNTOLD
}

function isRight({ kind, check }: ProbeCase): boolean {
  return (kind === 'good' || kind === 'minted') && check === undefined
}

/** Whether the API answers a token otherwise than one that it must refuse: its guard has let it through, whatever came then. */
function isLetThrough({ answer }: Probed, probes: readonly Probed[]): boolean {
  const forged = probes.find(({ probe }) => probe.kind === 'unproven')?.answer
  if (answer.failure !== undefined || forged?.failure !== undefined) return false
  return answer.status !== forged?.status && !saysNothing(answer.status)
}

function isRefused(status: number, { answer }: Probed): boolean {
  const right = answer.failure === undefined ? answer.status : undefined
  return REFUSALS.has(status) && status !== right
}

/** 415 is for a form alone. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 415])

function saysNothing(status: number): boolean {
  return status >= 500 || status === 429
}
