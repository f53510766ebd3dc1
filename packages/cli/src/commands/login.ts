import { createTokenClient, TokenClientError } from '@portcullis/client'
import { type Command, InvalidArgumentError, Option } from 'commander'

import { readPassword } from '../input/password-input.ts'
import { orUsage } from '../keys/key-choice.ts'
import type { Context } from '../surroundings/context.ts'
import { CommandError, EXIT, usageError } from '../surroundings/exit-code.ts'

// The command `login`: the client of `@portcullis/client` logs in once, and stdout gets the token and nothing else.

interface LoginOptions {
  readonly authUrl?: string
  readonly id?: string
  readonly password?: string
  readonly passwordEnv?: string
  readonly passwordStdin?: boolean
  readonly field?: string
  readonly timeout?: number
  readonly allowInsecure?: boolean
  readonly dpop?: boolean
}

const EXAMPLES = `
Examples:
  portcullis login --auth-url https://auth.example.com --id demo
  TOKEN=$(portcullis login --id demo --password-env DEMO_PASSWORD)
  portcullis login --id demo | portcullis explain
`

export function registerLogin(command: Command, context: Context): void {
  command
    .option('--auth-url <url>', 'the token service (or set AUTH_URL)')
    .option('--id <loginId>', 'the login')
    .option('--password-env <name>', 'read the password from an environment variable')
    .option('--password-stdin', 'read the password from stdin')
    .option('--password <text>', 'the password itself, which other users of the machine can see')
    .option('--field <name>', 'the field of the answer that has the token')
    .option('--timeout <seconds>', 'how long it may take (10)', seconds)
    .option('--allow-insecure', 'permit http: beyond this machine')
    // Not in the help: it is there to say why it cannot be.
    .addOption(new Option('--dpop').hideHelp())
    .addHelpText('after', EXAMPLES)
    .action(async (options: LoginOptions) => {
      await login(options, context)
    })
}

async function login(options: LoginOptions, context: Context): Promise<void> {
  const { terminal, env, fetch, clock, signal } = context
  const { authUrl = env['AUTH_URL'], id, field, timeout, allowInsecure } = options
  if (options.dpop === true) {
    throw usageError(
      'a token that is bound to a key is of no use alone, and its key would be gone with this command: createTokenClient({ dpop: true }) of @portcullis/client keeps it',
    )
  }
  if (authUrl === undefined) throw usageError('state the token service: --auth-url, or AUTH_URL')
  if (id === undefined) throw usageError('state who logs in: --id')
  const password = await readPassword(options, context)
  const response = field === undefined ? undefined : { field }
  const credentials = { authUrl, loginId: id, password }
  const client = orUsage(() =>
    createTokenClient({
      ...credentials,
      origins: [],
      response,
      timeout,
      allowInsecure,
      fetch,
      clock,
    }),
  )
  try {
    // A token that lasts for a moment only is worth looking at, too.
    terminal.print(await client.get({ minValidity: 0, signal }))
  } catch (error) {
    if (error instanceof TokenClientError) throw failure(error)
    throw error
  } finally {
    await client.close()
  }
}

/** A message of the client has no credential, token or URL in it. */
function failure({ code, message }: TokenClientError): CommandError {
  const isRefused = code === 'credentials_rejected' || code === 'token_unusable'
  return new CommandError(isRefused ? EXIT.refused : EXIT.undecided, `${code}: ${message}`)
}

function seconds(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) {
    throw new InvalidArgumentError('It must be a number.')
  }
  return value
}
