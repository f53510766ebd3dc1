import { challengeOf } from './challenge.ts'
import { type Complaint, LEVELS, type Said } from './complaints.ts'
import { type Absent, coverageOf } from './coverage.ts'
import { complaintsAbout, expectedStatus, type Probed } from './judgement.ts'
import { FORGED_IN_FORM, FORGED_IN_QUERY, FORM_IS_READ, QUERY_IS_READ } from './places.ts'

// The verdict of a probe: gathers what is wrong with single answers, and compares answers with each other.

export interface ProbeFinding extends Complaint {
  readonly requests: readonly string[]
}

export type ProbeFindings = ReturnType<typeof judgeProbe>

/**
 * By the worst finding. `breach` if anything was let through that has to be refused. `unclear` if answers say nothing about
 * credentials, and nothing else is wrong. `sound` is about what was tested, and nothing more.
 */
const VERDICTS = {
  breach: 'breach',
  problem: 'faulty',
  unclear: 'unclear',
  warning: 'sound',
  note: 'sound',
} as const

/**
 * @param absent Why something was not sent.
 * @param again The first unproven token once more: what differs between its two answers is not about the token.
 */
export function judgeProbe(probes: readonly Probed[], absent: Absent, again: Probed | undefined) {
  const further = [
    ...comparison(probes, again),
    ...placeFinding(FORGED_IN_QUERY, QUERY_IS_READ, probes),
    ...placeFinding(FORGED_IN_FORM, FORM_IS_READ, probes),
  ]
  return { ...judgeAnswers(probes, further), ...coverageOf(probes, absent) }
}

/** @param further What is not about a single answer. */
export function judgeAnswers(probes: readonly Probed[], further: readonly ProbeFinding[]) {
  const judged = probes.map((probed) => ({
    probed,
    complaints: complaintsAbout(probed, rightAnswer(probed, probes)),
  }))
  const all = [
    ...gathered(judged.map(({ probed, complaints }) => [probed.probe.name, complaints])),
    ...further,
  ]
  const findings = LEVELS.flatMap((level) => all.filter((each) => each.level === level))
  return {
    verdict: VERDICTS[worstOf(findings) ?? 'note'],
    rows: judged.map(({ probed, complaints }) => ({
      name: probed.probe.name,
      outcome: worstOf(complaints) ?? ('ok' as const),
      /** `undefined` if there was no answer. */
      status: probed.answer.failure === undefined ? probed.answer.status : undefined,
      expected: expectedStatus(probed),
      /** Why a verifier refuses it. */
      reason: probed.refusal?.reason,
    })),
    /** The worst first. */
    findings,
  }
}

function rightAnswer({ probe: { wrong } }: Probed, probes: readonly Probed[]) {
  return probes.find(
    ({ probe: { kind, token } }) =>
      (kind === 'good' || kind === 'minted') && (wrong === undefined || token === wrong.right),
  )?.answer
}

function worstOf(complaints: readonly Complaint[]): Complaint['level'] | undefined {
  return LEVELS.find((level) => complaints.some((each) => each.level === level))
}

/** Each finding once, since most of them concern many requests. */
function gathered(all: readonly (readonly [name: string, complaints: readonly Complaint[]])[]) {
  const findings = new Map<string, ProbeFinding>()
  for (const [name, complaints] of all) {
    for (const complaint of complaints) {
      const requests = findings.get(complaint.text)?.requests ?? []
      findings.set(complaint.text, { ...complaint, requests: [...requests, name] })
    }
  }
  return [...findings.values()]
}

/** Whether the answer tells callers which check an unproven token has failed. */
function comparison(probes: readonly Probed[], again: Probed | undefined): readonly ProbeFinding[] {
  const refused = probes.filter(
    ({ probe, answer }) =>
      probe.kind === 'unproven' && answer.failure === undefined && answer.status >= 400,
  )
  const [first] = refused
  if (first === undefined || again === undefined) return []
  const isSteady = shapeOf(first, true) === shapeOf(again, true)
  const usual = shapeOf(first, isSteady)
  const others = refused.filter((each) => shapeOf(each, isSteady) !== usual)
  if (others.length === 0) return []
  const text =
    'answered in another way than other tokens that nothing proves: callers learn which check refused it'
  return [{ level: 'note', text, requests: others.map(({ probe }) => probe.name) }]
}

/** Whoever says `invalid_token` of a token at another place, and not where there is none, has read it (RFC 6750 section 3.1). */
function placeFinding(
  place: string,
  [level, text]: Said,
  probes: readonly Probed[],
): readonly ProbeFinding[] {
  const errorOf = (name: string) => {
    const answer = probes.find(({ probe }) => probe.name === name)?.answer
    return answer?.failure === undefined ? answer && challengeOf(answer)?.['error'] : undefined
  }
  const error = errorOf(place)
  if (error === undefined || error === errorOf('no token')) return []
  return [{ level, text, requests: [place] }]
}

/** All that a caller sees of a refusal. Texts that differ from request to request are left out. */
function shapeOf({ answer }: Probed, isSteady: boolean): string {
  if (answer.failure !== undefined) return ''
  const { status, headers, body } = answer
  const { error, error_description: description } = challengeOf(answer) ?? {}
  const challenge = isSteady ? headers['www-authenticate'] : [error, description]
  return JSON.stringify([status, challenge, headers['content-type'], isSteady ? body : ''])
}
