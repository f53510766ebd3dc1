import type { Algorithm, VerifierOptions } from '@portcullis/core'
import { type Command, InvalidArgumentError } from 'commander'

import type { Context } from '../surroundings/terminal.ts'
import { seconds } from './seconds.ts'

// Turns flags into options of `createVerifier`, for all commands that judge tokens.

/** The options of a verifier, as the command line has them. What is wrong about them is core's to say. */
export interface VerifierFlags {
  readonly issuer?: readonly string[]
  /** Whose keys they are: its tokens are accepted, unless `--issuer` says otherwise. */
  readonly discover?: string
  readonly audience?: readonly string[]
  readonly algorithm?: readonly string[]
  readonly algorithmName?: Readonly<Record<string, Algorithm>>
  readonly type?: readonly string[]
  readonly requiredClaim?: readonly string[]
  readonly requireExpiry?: boolean
  readonly clockTolerance?: number
  readonly maxTokenAge?: number
  readonly confirmation?: string
}

export function takesVerifierFlags(command: Command): Command {
  return command
    .option('--issuer <iss>', 'an accepted iss; may be repeated', collected)
    .option('--audience <aud>', 'an aud that means the API; may be repeated', collected)
    .option(
      '--algorithm <alg>',
      'an accepted algorithm (those the keys state); may be repeated',
      collected,
    )
    .option(
      '--algorithm-name <name=alg>',
      'another name of an algorithm, such as RSA512=RS512; may be repeated',
      algorithmName,
    )
    .option('--type <typ>', 'an accepted typ of the header; may be repeated', collected)
    .option(
      '--required-claim <name>',
      'a claim that must be there, or name=value with an accepted text; beside such a value, a name alone is { name: true }, which also refuses false, null, 0, "", "false", lists and objects; may be repeated',
      collected,
    )
    .option('--no-require-expiry', 'accept tokens without exp')
    .option('--clock-tolerance <time>', 'how far clocks may differ (5s)', seconds)
    .option('--max-token-age <time>', 'the longest time since iat, such as 1h', seconds)
    .option('--confirmation <word>', 'require a proof of what cnf names (require), or ignore it')
}

/** A token is judged once, `explain` adds the revocations, and the size has a default. */
type WithoutFlag = 'maxTokenSize' | 'remember' | 'revocations'

/** Every option but the keys, so that a new one is not forgotten. */
export function verifierRules(
  flags: VerifierFlags,
  { clock }: Context,
): Required<Omit<VerifierOptions, WithoutFlag | 'keys'>> {
  const { issuer, discover, audience, algorithm, requiredClaim, confirmation } = flags
  return {
    issuer: issuer ?? discover ?? null,
    audience: audience ?? null,
    algorithms: algorithm as readonly Algorithm[] | undefined, // core looks at them
    algorithmNames: flags.algorithmName,
    type: flags.type,
    requiredClaims: requiredClaim && requiredClaimsOf(requiredClaim),
    requireExpiry: flags.requireExpiry,
    clockTolerance: flags.clockTolerance,
    maxTokenAge: flags.maxTokenAge,
    confirmation: confirmation as VerifierOptions['confirmation'], // core looks at it
    clock,
  }
}

export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Names alone are a list, as in the option of the verifier. Beside values a name is `true`, which is stricter: the help says so. */
function requiredClaimsOf(
  stated: readonly string[],
): NonNullable<VerifierOptions['requiredClaims']> {
  const values = new Map<string, readonly string[]>()
  for (const text of stated) {
    const [, name = text, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    const known = values.get(name) ?? []
    values.set(name, value === undefined ? known : [...known, value])
  }
  const entries = [...values].map(([name, texts]) => [name, texts.length === 0 || texts] as const)
  return entries.every(([, texts]) => texts === true)
    ? [...values.keys()]
    : Object.fromEntries(entries)
}

export function algorithmName(text: string, before: Readonly<Record<string, Algorithm>> = {}) {
  const [, name, meant] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (name === undefined || meant === undefined) {
    throw new InvalidArgumentError('It must be a name, = and an algorithm.')
  }
  // A definition, since a name may be any text; core looks at the algorithm.
  return Object.fromEntries([...Object.entries(before), [name, meant as Algorithm]])
}
