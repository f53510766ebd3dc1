import type { Possession, Revocations } from '@portcullis/core'
import { explain, type Explanation } from '@portcullis/core/explain'
import { isLikeJwt } from '@portcullis/core/verifier'
import type { Command } from 'commander'

import { cliHints, metadataHints, otherKeysHints, timeHints, whatToDo } from '../explain/advice.ts'
import { commandLine } from '../explain/command-line.ts'
import {
  answeredJson,
  explanationJson,
  printAnswered,
  printExplanation,
} from '../explain/explanation-report.ts'
import { suggestion } from '../explain/issuer-suggestion.ts'
import {
  askIssuer,
  type IntrospectionOptions,
  OPAQUE_HINT,
  takesIntrospection,
} from '../explain/opaque-token.ts'
import { otherKeys } from '../explain/other-keys.ts'
import { readToken, takesToken, type TokenOptions } from '../input/token-input.ts'
import {
  collected,
  takesVerifierFlags,
  type VerifierFlags,
  verifierRules,
} from '../input/verifier-flags.ts'
import {
  keysAt,
  type KeyOptions,
  type KeyPlace,
  keysWords,
  NO_PLACE,
  orUsage,
  statedPlace,
  takesKeys,
} from '../keys/key-choice.ts'
import { EXIT, type ExitCode, usageError } from '../surroundings/exit-code.ts'
import { untilInterrupted } from '../surroundings/interruption.ts'
import { printable, printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'
import { openStream, type StreamOptions, takesStream } from './redis-stream.ts'

// The command `explain`: collects token, keys, options and revocations, and lets core explain. The exit code is the verdict.

interface ExplainOptions
  extends KeyOptions, TokenOptions, VerifierFlags, StreamOptions, IntrospectionOptions {
  readonly other?: readonly string[]
  readonly revocations?: boolean
  readonly jkt?: string
  readonly x5tS256?: string
  readonly json?: boolean
  readonly share?: boolean
}

const EXAMPLES = `
Examples:
  portcullis explain --auth-url https://auth.example.com < token.txt
  portcullis explain --discover https://login.example.com --env TOKEN
  portcullis explain --env TOKEN --audience api
  portcullis explain --file token.txt --keys-file key.json --other qa=qa.json
  portcullis explain --discover https://login.example.com --env TOKEN \\
    --client-id api --client-secret-env SECRET
  REDIS_URL=redis://127.0.0.1 portcullis explain --env TOKEN --revocations

Exit codes: 0 accepted, 1 refused, 2 wrong command line, 3 cannot be decided
`

const EXIT_CODES: Readonly<Record<Explanation['verdict'], ExitCode>> = {
  accepted: EXIT.ok,
  refused: EXIT.refused,
  undecided: EXIT.undecided,
}

export function registerExplain(command: Command, context: Context): void {
  takesIntrospection(takesStream(takesVerifierFlags(takesKeys(takesToken(command)))))
    .option(
      '--other <name=place>',
      'keys of another environment, to recognise; may be repeated',
      collected,
    )
    .option('--revocations', 'ask the Redis stream of revocations, too: see --redis-url')
    .option('--jkt <thumbprint>', 'as if sent with a DPoP proof of this key')
    .option('--x5t-s256 <thumbprint>', 'as if sent with this client certificate')
    .option('--share', 'leave out the values of claims: fit for a ticket')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (argument: string | undefined, options: ExplainOptions) => {
      await explainToken(argument, options, context)
    })
}

async function explainToken(
  argument: string | undefined,
  options: ExplainOptions,
  context: Context,
): Promise<void> {
  const { terminal, signal } = context
  const possession = possessionOf(options)
  const place = statedPlace(options, context)
  // What is wrong about the command line is said before a terminal is asked for a token.
  const keys = place && (await keysAt(place, options, context))
  const others = await otherKeys(options.other ?? [], options, context)
  const { token, stripped } = await readToken(argument, options, context)
  if (stripped.length > 0) terminal.say(`read without: ${stripped.join(', ')}`)
  const { clientId } = options
  if (clientId !== undefined && !isLikeJwt(token)) {
    await explainOpaque(token, { ...options, clientId }, possession, context)
    return
  }
  if (place === undefined || keys === undefined) {
    const hint = !isLikeJwt(token) ? OPAQUE_HINT : suggestion(token, argument, context)
    const said = [NO_PLACE, hint]
    throw usageError(said.filter((each) => each !== undefined).join('\n'))
  }
  const explanation = await withRevocations(options, context, async (revocations) => {
    const verifier = { keys: keys.source, ...verifierRules(options, context), revocations }
    const otherSources = others.map(({ name, source }) => ({ name, keys: source }))
    return await orUsage(
      async () => await explain(token, verifier, { otherKeys: otherSources, possession, signal }),
    )
  })
  const ofMetadata = metadataHints(explanation, keys.seen)
  const report = {
    explanation,
    hints: [
      ...explanation.hints,
      ...ofMetadata,
      ...(!isLikeJwt(token) ? [{ name: 'opaque_token' as const, text: OPAQUE_HINT }] : []),
      ...cliHints(token, keys),
      ...timeHints(explanation, keys, context.clock.now()),
      ...otherKeysHints(others.map(({ name, failure }) => ({ name, failure: failure() }))),
    ],
    advice: whatToDo(explanation, ofMetadata),
    commands: commandsFor(explanation, place, options, context),
    where: keys.seen.url ?? keys.where,
    share: options.share === true,
  }
  if (options.json === true) terminal.print(printableJson(explanationJson(report), 2))
  else printExplanation(report, { terminal, now: context.clock.now() })
  context.exitWith(EXIT_CODES[explanation.verdict])
}

/** Of an opaque token nothing can be checked here: its issuer alone knows what it is. */
async function explainOpaque(
  token: string,
  options: ExplainOptions & { readonly clientId: string },
  possession: Possession | undefined,
  context: Context,
): Promise<void> {
  const { terminal } = context
  const answered = await withRevocations(
    options,
    context,
    async (revocations) => await askIssuer(token, options, { possession, revocations }, context),
  )
  const share = options.share === true
  if (options.json === true) terminal.print(printableJson(answeredJson(answered, share), 2))
  else printAnswered(answered, share, { terminal, now: context.clock.now() })
  context.exitWith(EXIT_CODES[answered.verdict])
}

function commandsFor(
  { refusal }: Explanation,
  place: KeyPlace,
  options: ExplainOptions,
  { env }: Context,
): readonly string[] {
  if (refusal?.code !== 'keys_unavailable') return []
  const line = commandLine(keysWords(place, options), env)
  return line === undefined ? [] : [line]
}

function possessionOf({ jkt, x5tS256 }: ExplainOptions): Possession | undefined {
  const stated = [
    ['--jkt', jkt],
    ['--x5t-s256', x5tS256],
  ] as const
  for (const [name, thumbprint] of stated) {
    if (thumbprint !== undefined && !/^[\w-]{43}$/.test(thumbprint)) {
      throw usageError(`${name} must be a thumbprint: 43 characters of base64url, as cnf has it`)
    }
  }
  return jkt === undefined && x5tS256 === undefined ? undefined : { jkt, x5tS256 }
}

/** What the stream says, if it is to be asked. Without an answer, the explanation is that of an API without one. */
async function withRevocations<Value>(
  options: ExplainOptions,
  context: Context,
  use: (revocations: Revocations | undefined) => Promise<Value>,
): Promise<Value> {
  const { revocations: isWanted, redisUrl, stream } = options
  if ((isWanted ?? redisUrl ?? stream) === undefined) return await use(undefined)
  const revocations = await openStream(options, context)
  try {
    await untilInterrupted(revocations.ready(), context.signal).catch(async (error: unknown) => {
      const { RevocationStoreError } = await import('@portcullis/redis')
      if (!(error instanceof RevocationStoreError)) throw error
      context.terminal.say(`revocations: ${printable(error.message)}`)
    })
    return await use(revocations)
  } finally {
    await revocations.close()
  }
}
