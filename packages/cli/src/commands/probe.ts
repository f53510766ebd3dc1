import { type Algorithm, AuthError, createVerifier } from '@portcullis/core'
import { explain } from '@portcullis/core/explain'
import type { Command } from 'commander'

import { inFlags } from '../input/flag-names.ts'
import { readTextFile } from '../input/named-file.ts'
import { tokenIn } from '../input/token-input.ts'
import { takesVerifierFlags, verifierRules } from '../input/verifier-flags.ts'
import { type ChosenKeys, keysAt, orUsage, statedPlace, takesKeys } from '../keys/key-choice.ts'
import type { ProbeCase } from '../probe/cases.ts'
import { TOLERATED, type WrongToken, wrongTime } from '../probe/claims.ts'
import type { Absent } from '../probe/coverage.ts'
import { type MintedTokens, probeCases } from '../probe/credentials.ts'
import { exchange } from '../probe/exchange.ts'
import { judgeProbe } from '../probe/findings.ts'
import type { Probed } from '../probe/judgement.ts'
import { ACCEPTED, CHECKS } from '../probe/kinds.ts'
import { mintedTokens } from '../probe/minted.ts'
import { printProbe, probeJson } from '../probe/report.ts'
import { usageError } from '../surroundings/exit-code.ts'
import { untilInterrupted } from '../surroundings/interruption.ts'
import { printable, printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'
import { parameterValue, probeOperations } from './probe-operations.ts'
import {
  checkReached,
  checkTogether,
  claimsLike,
  EXIT_CODES,
  goodToken,
  type ProbeOptions,
  targetOf,
  warnOf,
} from './probe-options.ts'

// The command `probe`: collects the tokens, sends the requests one after the other, and hands the answers to probe/, which judges them.

const EXAMPLES = `
Examples:
  portcullis probe https://api.example.com/v1/clientLocations
  portcullis mint | portcullis probe http://127.0.0.1:3000/ --stdin
  portcullis probe http://127.0.0.1:3000/v1/me --env TOKEN
  portcullis probe https://api.example.com/ --file new.txt \\
    --expired-file old.txt --auth-url https://auth.example.com
  portcullis probe https://api.example.com/v1 --openapi openapi.json

It sends forty to fifty requests, one after the other: without a body, but
for a form with --method POST, PUT or PATCH. With a
token of yours the last ones may reach the code behind the guard. Where it is
told the keys, the report has what a verifier of ours says of each token.
If the keys are those of portcullis serve on this machine or at
PORTCULLIS_URL, it lets that mint bad tokens of every kind: a hundred requests.
So many may fire an alarm of the API that watches for floods of bad tokens.

With --openapi it asks each GET and HEAD of the description that needs a token:
without one, with a forged one, and with yours where that lacks a scope.

Exit codes: 0 sound as far as tested, 1 a breach or a fault,
2 wrong command line, 3 cannot be decided
`

export function registerProbe(command: Command, context: Context): void {
  takesVerifierFlags(takesKeys(command))
    .argument('<url>', 'what needs a token')
    .option('--method <name>', 'how it is called', 'GET')
    .option('--file <path>', 'read your token from a file')
    .option('--env <name>', 'read your token from an environment variable')
    .option('--stdin', 'read your token from stdin')
    .option('--expired-file <path>', 'read a token of yours that has expired from a file')
    .option('--openapi <path>', 'ask the operations of an OpenAPI description instead: JSON')
    .option('--unsafe-methods', 'with --openapi: also POST, PUT, PATCH and DELETE, which may run')
    .option(
      '--value <name=text>',
      'with --openapi: the value of a parameter; may be repeated',
      parameterValue,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (text: string, options: ProbeOptions) => {
      checkTogether(command)
      const { openapi } = options
      if (openapi === undefined) await probe(text, options, context)
      else await probeOperations(text, { ...options, openapi }, context)
    })
}

async function probe(text: string, options: ProbeOptions, context: Context): Promise<void> {
  const { terminal, clock } = context
  const good = await goodToken(options, context)
  const expired = await expiredToken(options, context)
  const target = targetOf(text, options, (good ?? expired) !== undefined)
  const { algorithm } = options
  const place = statedPlace(options, context)
  const keys = place && (await keysAt(place, options, context))
  if (keys !== undefined) await fetched(keys, context)
  const minted = keys && (await mintedTokens(keys.where, good, options, context))
  const cases = await orUsage(
    async () =>
      await probeCases({
        method: target.method,
        algorithm: (algorithm?.[0] ?? 'RS512') as Algorithm, // looked at where keys are made
        clock,
        good,
        minted,
        expired: expired === undefined ? undefined : ofFile(expired, good),
        document: keys?.seen.text,
        claims: claimsLike(good ?? minted?.right, options),
      }),
  )
  warnOf(cases.filter(({ kind }) => BAD.has(kind)).length, terminal)
  const probes: Probed[] = []
  const ask = async (each: ProbeCase) => {
    const answer = await exchange(target, each, context)
    return { probe: each, answer, ...(await verdictOn(each, keys, options, context)) }
  }
  for (const each of cases) {
    const probed = await ask(each)
    if (probes.length === 0) checkReached(probed.answer)
    probes.push(probed)
  }
  const unproven = cases.find(({ kind }) => kind === 'unproven')
  const findings = judgeProbe(probes, absentBecause(minted), unproven && (await ask(unproven)))
  const report = {
    ...findings,
    url: `${target.url.origin}${target.url.pathname}`,
    method: target.method,
  }
  if (options.json === true) terminal.print(printableJson(probeJson(report), 2))
  else printProbe(report, terminal)
  terminal.say('No token is in this report.')
  context.exitWith(EXIT_CODES[findings.verdict])
}

const BAD: ReadonlySet<ProbeCase['kind']> = new Set([
  'malformed',
  'invalid_request',
  'unproven',
  'too_large',
  'two_headers',
  'forged_first',
  'wrong',
])

/** The document is needed before the first token: an attack is made of it. */
async function fetched({ source, where }: ChosenKeys, { signal, terminal }: Context) {
  const verifier = createVerifier({ keys: source, issuer: null, audience: null })
  try {
    await untilInterrupted(verifier.ready(), signal)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    terminal.say(`no keys from ${printable(where)}: ${inFlags(error.detail)}`)
  }
}

/** @throws CommandError if it has not expired for so long that no API accepts it. */
async function expiredToken({ expiredFile }: ProbeOptions, context: Context) {
  if (expiredFile === undefined) return undefined
  const { token } = tokenIn(await readTextFile(expiredFile, context))
  if (wrongTime(token, context.clock.now()) === 'exp') return token
  throw usageError(
    `the token of --expired-file must have expired ${TOLERATED / 60} minutes ago or longer, since clocks differ`,
  )
}

function ofFile(token: string, right: string | undefined): WrongToken {
  const accepted = ACCEPTED.exp
  return { name: 'your expired token', check: 'exp', accepted, token, right, isMade: false }
}

function absentBecause(minted: MintedTokens | undefined): Absent {
  const unsigned =
    minted === undefined
      ? 'nobody but the issuer signs such a token; `portcullis serve` as the issuer does'
      : 'the tokens of the issuer do not have it'
  const all = Object.fromEntries(CHECKS.map((check) => [check, unsigned])) as Absent // one for each
  const exp = 'state --expired-file, or take `portcullis serve` as the issuer'
  const form = 'state one of yours: --file, --env or --stdin'
  return { ...all, exp, 'form of the token': form }
}

async function verdictOn(
  { token }: ProbeCase,
  keys: ChosenKeys | undefined,
  options: ProbeOptions,
  context: Context,
): Promise<Pick<Probed, 'refusal' | 'isAccepted'>> {
  if (keys === undefined || token === undefined) return UNKNOWN
  const verifier = { keys: keys.source, ...verifierRules(options, context) }
  const { signal } = context
  const { verdict, refusal } = await orUsage(async () => await explain(token, verifier, { signal }))
  if (verdict === 'undecided') return UNKNOWN
  return {
    isAccepted: refusal === undefined,
    refusal: refusal && { reason: refusal.reason, status: refusal.status },
  }
}

const UNKNOWN = { refusal: undefined, isAccepted: undefined }
