import type { Possession, Revocations } from '@portcullis/core'
import type { Command } from 'commander'

import { readTextFile } from '../input/named-file.ts'
import { readVariable } from '../input/token-input.ts'
import { type VerifierFlags, verifierRules } from '../input/verifier-flags.ts'
import { orUsage } from '../keys/key-choice.ts'
import { usageError } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'
import { whatToDo } from './advice.ts'

// What `explain` knows of tokens that are no JWT: only their issuer can read them, and it is asked if the user says who asks.

export interface IntrospectionOptions {
  readonly introspectionUrl?: string
  readonly clientId?: string
  readonly clientSecretEnv?: string
  readonly clientSecretFile?: string
}

export function takesIntrospection(command: Command): Command {
  return command
    .option('--client-id <id>', 'what the issuer calls the API: asks it about an opaque token')
    .option('--client-secret-env <name>', 'read its secret from an environment variable')
    .option('--client-secret-file <path>', 'read its secret from a file')
    .option(
      '--introspection-url <url>',
      'where to ask; else the metadata of --discover name the endpoint',
    )
}

export const OPAQUE_HINT =
  'This is no JWT. If it is an opaque token, only its issuer can read it: state who asks, with --client-id, and --client-secret-env or --client-secret-file.'

export type Answered = Awaited<ReturnType<typeof askIssuer>>

interface Asking extends IntrospectionOptions, VerifierFlags {
  readonly clientId: string
  readonly timeout?: number
  readonly allowInsecure?: boolean
}

export async function askIssuer(
  token: string,
  options: Asking,
  proven: {
    readonly possession: Possession | undefined
    readonly revocations: Revocations | undefined
  },
  context: Context,
) {
  const [issuer = options.discover, ...others] = options.issuer ?? []
  if (others.length > 0) throw usageError('an opaque token names no issuer: state one --issuer')
  const { AuthError } = await import('@portcullis/core')
  const { introspected } = await import('@portcullis/introspection')
  const clientSecret = await readSecret(options, context)
  const { algorithms: _, algorithmNames: __, ...rules } = verifierRules(options, context)
  const verifier = await orUsage(() =>
    introspected({
      ...rules,
      type: options.type,
      issuer: issuer ?? null,
      endpoint: options.introspectionUrl,
      clientId: options.clientId,
      clientSecret,
      revocations: proven.revocations,
      timeout: options.timeout,
      allowInsecure: options.allowInsecure,
      fetch: context.fetch,
    }),
  )
  try {
    const { possession } = proven
    const { claims } = await verifier.verify(token, { possession, signal: context.signal })
    return { verdict: 'accepted' as const, claims }
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    return {
      verdict: error.status === 503 ? ('undecided' as const) : ('refused' as const),
      refusal: error,
      /** What is missing or wrong, in words. It may show values of claims. */
      detail: error.detail,
      advice: whatToDo({ refusal: error, hints: [] }),
    }
  }
}

/** The file may end with a line break, which is none of the secret. */
async function readSecret(
  { clientSecretEnv, clientSecretFile }: IntrospectionOptions,
  context: Context,
): Promise<string | undefined> {
  if (clientSecretEnv !== undefined && clientSecretFile !== undefined) {
    throw usageError('state one of --client-secret-env and --client-secret-file')
  }
  if (clientSecretFile !== undefined) {
    return (await readTextFile(clientSecretFile, context)).replace(/\r?\n$/, '')
  }
  return clientSecretEnv === undefined ? undefined : readVariable(clientSecretEnv, context)
}
