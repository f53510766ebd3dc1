import { type Algorithm, AuthError, createVerifier } from '@portcullis/core'
import { explain } from '@portcullis/core/explain'
import type { Command } from 'commander'

import type { Context } from '../context.ts'
import { CommandError, EXIT, type ExitCode, usageError } from '../exit-code.ts'
import { untilInterrupted } from '../interruption.ts'
import {
  type ChosenKeys,
  chooseKeys,
  type KeyOptions,
  orUsageLater,
  takesKeys,
} from '../key-choice.ts'
import { printable } from '../printable.ts'
import { probeCases, type ProbeCase } from '../probe/credentials.ts'
import { exchange, type Target } from '../probe/exchange.ts'
import { judgeProbe, type ProbeFindings } from '../probe/findings.ts'
import type { Probed } from '../probe/judgement.ts'
import { printProbe, probeJson } from '../probe/report.ts'
import { isLoopback } from '../serve/loopback.ts'
import { readToken, type TokenOptions } from '../token-input.ts'
import { takesVerifierFlags, type VerifierFlags, verifierOptions } from '../verifier-flags.ts'

interface ProbeOptions extends KeyOptions, TokenOptions, VerifierFlags {
  readonly stdin?: boolean
  readonly method: string
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  portcullis probe https://api.example.com/v1/clientLocations
  portcullis login --id demo | portcullis probe https://api.example.com/ --stdin
  portcullis probe http://127.0.0.1:3000/v1/me --env TOKEN

It sends about twenty requests without a body, one after the other. With a
token of yours the last ones may reach the code behind the guard. Where it is
told the keys, the report has what a verifier of ours says of each token.

Exit codes: 0 sound, 1 something should be mended, 2 wrong command line,
3 cannot be decided
`

const EXIT_CODES: Readonly<Record<ProbeFindings['verdict'], ExitCode>> = {
  sound: EXIT.ok,
  faulty: EXIT.refused,
  unclear: EXIT.undecided,
}

export function registerProbe(program: Command, context: Context): void {
  takesVerifierFlags(takesKeys(program.command('probe')))
    .description('call an API without a token, with bad ones and with yours, and judge its answers')
    .argument('<url>', 'what needs a token')
    .option('--method <name>', 'how it is called', 'GET')
    .option('--file <path>', 'read your token from a file')
    .option('--env <name>', 'read your token from an environment variable')
    .option('--stdin', 'read your token from stdin')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (text: string, options: ProbeOptions) => {
      await probe(text, options, context)
    })
}

async function probe(text: string, options: ProbeOptions, context: Context): Promise<void> {
  const { terminal, env, clock } = context
  const good = await goodToken(options, context)
  const target = targetOf(text, options, good !== undefined)
  const { authUrl, keysUrl, keysFile, issuer, audience, algorithm } = options
  const hasKeys = [authUrl, keysUrl, keysFile, env['AUTH_URL']].some((each) => each !== undefined)
  const keys = hasKeys ? await chooseKeys(options, context) : undefined
  if (keys !== undefined) await fetched(keys, context)
  const cases = await orUsageLater(
    probeCases({
      algorithm: (algorithm?.[0] ?? 'RS512') as Algorithm, // looked at where keys are made
      clock,
      good,
      document: keys?.seen.text,
      claims: { sub: 'portcullis-probe', iss: issuer?.[0], aud: audience?.[0] },
    }),
  )
  const probes: Probed[] = []
  const ask = async (each: ProbeCase) => {
    const answer = await exchange(target, each.authorization, context)
    return { probe: each, answer, ...(await verdictOn(each, keys, options, context)) }
  }
  for (const each of cases) {
    const probed = await ask(each)
    if (probes.length === 0 && probed.answer.failure !== undefined) {
      throw new CommandError(EXIT.undecided, `the API does not answer: ${probed.answer.failure}`)
    }
    probes.push(probed)
  }
  const unproven = cases.find(({ kind }) => kind === 'unproven')
  const findings = judgeProbe(probes, unproven && (await ask(unproven)))
  const report = {
    ...findings,
    url: `${target.url.origin}${target.url.pathname}`,
    method: target.method,
    untried: untried(good, keys),
  }
  if (options.json === true) terminal.print(JSON.stringify(probeJson(report), null, 2))
  else printProbe(report, terminal)
  terminal.say('No token is in this report.')
  context.exitWith(EXIT_CODES[findings.verdict])
}

/** The document is needed before the first token: an attack is made of it. */
async function fetched(
  { source, where }: ChosenKeys,
  { signal, terminal }: Context,
): Promise<void> {
  const verifier = createVerifier({ keys: source, issuer: null, audience: null })
  try {
    await untilInterrupted(verifier.ready(), signal)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    terminal.say(`no keys from ${printable(where)}: ${error.detail}`)
  }
}

async function goodToken(
  { file, env, stdin }: ProbeOptions,
  context: Context,
): Promise<string | undefined> {
  if (file === undefined && env === undefined && stdin !== true) return undefined
  const argument = stdin === true ? '-' : undefined
  const { token } = await readToken(
    argument,
    { ...(file && { file }), ...(env && { env }) },
    context,
  )
  return token
}

function targetOf(
  text: string,
  { method, timeout = 5, allowInsecure }: ProbeOptions,
  hasToken: boolean,
): Target {
  if (!URL.canParse(text)) throw usageError('the URL must be like https://api.example.com/v1/me')
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw usageError('the URL must begin with https: or http:')
  if (url.username !== '' || url.password !== '') {
    throw usageError('the URL must not contain credentials')
  }
  const isSafe = url.protocol === 'https:' || isLoopback(url.hostname) || allowInsecure === true
  if (hasToken && !isSafe) {
    throw usageError(
      'the URL must begin with https: (--allow-insecure sends your token in the clear)',
    )
  }
  if (!/^[A-Z]+$/.test(method)) throw usageError('--method must be a name such as GET or POST')
  if (!(timeout > 0 && timeout <= 60)) throw usageError('--timeout must be at most 60 seconds')
  return { url, method, timeout }
}

/** What a verifier would say of the token. */
async function verdictOn(
  { token }: ProbeCase,
  keys: ChosenKeys | undefined,
  options: ProbeOptions,
  context: Context,
): Promise<Pick<Probed, 'refusal' | 'isAccepted'>> {
  if (keys === undefined || token === undefined) return UNKNOWN
  const { verdict, refusal } = await explained(token, keys, options, context)
  if (verdict === 'undecided') return UNKNOWN
  return {
    isAccepted: refusal === undefined,
    refusal: refusal && { reason: refusal.reason, status: refusal.status },
  }
}

const UNKNOWN = { refusal: undefined, isAccepted: undefined }

async function explained(token: string, keys: ChosenKeys, options: ProbeOptions, context: Context) {
  const { signal } = context
  return await orUsageLater(
    explain(token, verifierOptions(options, keys.source, context), { signal }),
  )
}

function untried(good: string | undefined, keys: ChosenKeys | undefined): readonly string[] {
  return [
    ...(good === undefined ? ['a sound token; state --file, --env or --stdin'] : []),
    ...(keys?.seen.text === undefined
      ? ['HS256 keyed with the public key; state --auth-url, --keys-url or --keys-file']
      : []),
  ]
}
