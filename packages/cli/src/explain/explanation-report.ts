import type { AuthError } from '@portcullis/core'
import type { Explanation, Finding } from '@portcullis/core/explain'

import { inFlags } from '../input/flag-names.ts'
import { printable } from '../surroundings/printable.ts'
import type { Style, Terminal } from '../surroundings/terminal.ts'
import { wrapped } from '../surroundings/wrapped.ts'
import type { CliHint } from './advice.ts'
import { claimsText } from './claim-times.ts'
import type { Answered } from './opaque-token.ts'

// Prints an explanation of core, for people and as JSON. With `--share` no value of a claim is in it.

export interface Explained {
  readonly explanation: Explanation
  readonly hints: readonly (Explanation['hints'][number] | CliHint)[]
  readonly advice: string | undefined
  /** What can be run next, as it stands. */
  readonly commands: readonly string[]
  readonly where: string
  readonly share: boolean
}

export interface Shown {
  readonly terminal: Terminal
  /** Seconds since 1970-01-01T00:00:00Z: times of claims are shown with their distance from it. */
  readonly now: number
}

const VERDICTS: Readonly<Record<Explanation['verdict'], Style>> = {
  accepted: 'green',
  refused: 'red',
  undecided: 'bold',
}
const LABEL = 12

type Verdict = Pick<Explanation, 'verdict'> & { readonly refusal?: AuthError | undefined }

export function printExplanation(explained: Explained, { terminal, now }: Shown): void {
  const { explanation, advice, commands, where, share } = explained
  terminal.print(headline(explanation, terminal))
  terminal.print()
  const why = whyUnproven(explanation.findings)
  for (const finding of explanation.findings) {
    const isFirstUnproven = finding.check === 'type' && why !== undefined
    if (isFirstUnproven) terminal.print(`  not proven, since ${why}:`)
    const outcome = finding.outcome === 'fail' ? 'problem' : finding.outcome
    terminal.check(outcome, finding.check.padEnd(LABEL), printable(textOf(finding, where, share)))
  }
  for (const { text } of hintsToShow(explained)) {
    terminal.paragraph('Hint', printable(inFlags(text)))
  }
  if (advice !== undefined) terminal.paragraph('What to do', advice)
  if (commands.length > 0) terminal.print()
  for (const command of commands) terminal.print(`  ${command}`) // not broken into lines
  if (share) return
  printClaims('Claims, proven by the signature', explanation.provenClaims, { terminal, now })
  printClaims('Not proven, anybody can write this', explanation.unprovenClaims, { terminal, now })
}

export function printAnswered(answered: Answered, share: boolean, { terminal, now }: Shown): void {
  const { verdict, detail, advice, claims } = answered
  terminal.print(headline(answered, terminal))
  const active = verdict === 'accepted' ? 'the issuer says that it is active' : undefined
  const text = active ?? (share ? undefined : detail)
  terminal.print()
  if (text !== undefined) {
    terminal.print(`  ${wrapped(printable(inFlags(text)), terminal.columns, 2)}`)
  }
  if (advice !== undefined) terminal.paragraph('What to do', advice)
  if (!share) printClaims('Claims, as the issuer states them', claims, { terminal, now })
}

/** The same for programs. */
export function answeredJson(answered: Answered, share: boolean): object {
  const { verdict, refusal, detail, advice, claims } = answered
  const ofClaims = share ? {} : { detail, claims }
  return {
    schemaVersion: 1,
    verdict,
    refusal: refusal && refusalJson(refusal),
    advice,
    opaque: true,
    ...ofClaims,
  }
}

function refusalJson({ code, reason, status, headers }: AuthError): object {
  return { code, reason, status, headers }
}

function headline({ verdict, refusal }: Verdict, terminal: Terminal): string {
  const word = terminal.style(VERDICTS[verdict], verdict.toUpperCase())
  if (refusal === undefined) return word
  const { reason, status, headers } = refusal
  const challenge = headers['WWW-Authenticate'] ?? `Retry-After: ${headers['Retry-After']}`
  const start = `${verdict.toUpperCase()}  ${reason}  ->  ${status}  `
  const rest = wrapped(challenge, terminal.columns, start.length)
  return `${word}  ${reason}  ->  ${status}  ${rest}`
}

/** Why nobody can tell who wrote the claims; `undefined` if a trusted key made the signature. */
export function whyUnproven(findings: readonly Finding[]): string | undefined {
  const outcome = findings.find(({ check }) => check === 'signature')?.outcome
  if (outcome === 'ok') return undefined
  return outcome === 'fail' ? 'no trusted key made the signature' : 'the signature was not checked'
}

function textOf(finding: Finding, where: string, share: boolean): string {
  const { check, outcome, detail, summary } = finding
  const text = inFlags(share ? summary : detail)
  if (check === 'key' && outcome === 'ok') return `${text}  published at ${where}`
  const flag = FLAGS.get(check)
  return outcome === 'skipped' && flag !== undefined
    ? text.replace('not checked', `not checked: no ${flag} given`)
    : text
}

const FLAGS: ReadonlyMap<string, string> = new Map([
  ['issuer', '--issuer'],
  ['audience', '--audience'],
  ['type', '--type'],
])

function printClaims(title: string, claims: unknown, { terminal, now }: Shown): void {
  if (claims === undefined) return
  terminal.print(`\n${title}:`)
  terminal.print(claimsText(claims, now))
}

/** It shows the value of a claim; the finding about it says the same without. */
const CLAIM_HINT = 'bound_token'

function hintsToShow({ hints, share }: Explained): Explained['hints'] {
  return share ? hints.filter(({ name }) => name !== CLAIM_HINT) : hints
}

/** A change that breaks readers gets another version. */
export function explanationJson(explained: Explained): object {
  const { explanation, advice, commands, where, share } = explained
  const { verdict, refusal, findings, signer, header, provenClaims, unprovenClaims } = explanation
  return {
    schemaVersion: 1,
    verdict,
    refusal: refusal && refusalJson(refusal),
    findings: findings.map(({ check, outcome, reason, summary, detail }) =>
      share ? { check, outcome, reason, summary } : { check, outcome, reason, summary, detail },
    ),
    hints: hintsToShow(explained),
    advice,
    commands,
    signer,
    keys: where,
    ...(share ? {} : { header, provenClaims, unprovenClaims }),
  }
}
