import type { Algorithm, VerifierOptions } from '@portcullis/core'
import { explain, type Explanation } from '@portcullis/core/explain'
import { type Command, InvalidArgumentError } from 'commander'

import { adviceOn, cliHints } from '../advice.ts'
import type { Context } from '../context.ts'
import { EXIT, type ExitCode, usageError } from '../exit-code.ts'
import { explanationJson, printExplanation } from '../explanation-report.ts'
import { chooseKeys, keysAt, type KeyOptions, takesKeys } from '../key-choice.ts'
import { readToken, takesToken, type TokenOptions } from '../token-input.ts'

interface ExplainOptions extends KeyOptions, TokenOptions {
  readonly issuer?: readonly string[]
  readonly audience?: readonly string[]
  readonly algorithm?: readonly string[]
  readonly type?: string
  readonly clockTolerance?: number
  readonly maxTokenAge?: number
  readonly other?: readonly string[]
  readonly json?: boolean
  readonly share?: boolean
}

const EXAMPLES = `
Examples:
  portcullis explain --auth-url https://auth.example.com < token.txt
  portcullis explain --env TOKEN --keys-url https://auth.example.com/keys.json --audience api
  portcullis explain --file token.txt --key-file key.json --other staging=staging-key.json

Exit codes: 0 accepted, 1 rejected, 2 wrong command line, 3 cannot be decided
`

const EXIT_CODES: Readonly<Record<Explanation['verdict'], ExitCode>> = {
  accepted: EXIT.ok,
  rejected: EXIT.rejected,
  undecided: EXIT.undecided,
}

export function registerExplain(program: Command, context: Context): void {
  takesKeys(takesToken(program.command('explain')))
    .description('say why a token is accepted or refused: every check of the verifier')
    .option('--issuer <iss>', 'an accepted iss; may be repeated', collected)
    .option('--audience <aud>', 'an aud that means the API; may be repeated', collected)
    .option('--algorithm <alg>', 'an accepted algorithm (RS512); may be repeated', collected)
    .option('--type <typ>', 'the typ that the header must name')
    .option('--clock-tolerance <seconds>', 'how far clocks may differ (5)', number)
    .option('--max-token-age <seconds>', 'the longest time since iat', number)
    .option(
      '--other <name=place>',
      'keys of another environment, to recognise; may be repeated',
      collected,
    )
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
  const keys = await chooseKeys(options, context)
  const others = await Promise.all(
    (options.other ?? []).map(async (each) => await otherKeys(each, options, context)),
  )
  const { token, stripped } = await readToken(argument, options, context)
  if (stripped.length > 0) terminal.say(`read without: ${stripped.join(', ')}`)
  const explanation = await explained(
    explain(token, verifierOptions(options, keys.source, context), { otherKeys: others, signal }),
  )
  const report = {
    explanation,
    hints: [...explanation.hints, ...cliHints(token, keys)],
    advice: adviceOn(explanation, loginCommand(options, context)),
    where: keys.where,
    share: options.share === true,
  }
  if (options.json === true) terminal.print(JSON.stringify(explanationJson(report), null, 2))
  else printExplanation(report, terminal)
  context.exitWith(EXIT_CODES[explanation.verdict])
}

function verifierOptions(
  { issuer, audience, algorithm, type, clockTolerance, maxTokenAge }: ExplainOptions,
  keys: VerifierOptions['keys'],
  { clock }: Context,
): VerifierOptions {
  return {
    keys,
    issuer: issuer ?? null,
    audience: audience ?? null,
    algorithms: algorithm as readonly Algorithm[] | undefined, // core looks at them
    type,
    clockTolerance,
    maxTokenAge,
    clock,
  }
}

/** What core complains of is a mistake of the command line. */
async function explained(explanation: Promise<Explanation>): Promise<Explanation> {
  try {
    return await explanation
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message.replace('createVerifier: ', ''))
    throw error
  }
}

async function otherKeys(text: string, options: KeyOptions, context: Context) {
  const [, name, place] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (name === undefined || place === undefined) {
    throw usageError('--other must be a name, = and a URL or a file')
  }
  const { source } = await keysAt(place, options, context)
  return { name, keys: source }
}

function loginCommand({ authUrl }: KeyOptions, { env }: Context): string {
  const stated = authUrl ?? env['AUTH_URL']
  return stated === undefined
    ? 'portcullis login --auth-url URL'
    : `portcullis login --auth-url ${stated}`
}

function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function number(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value))
    throw new InvalidArgumentError('It must be a number.')
  return value
}
