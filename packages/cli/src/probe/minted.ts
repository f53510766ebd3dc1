import { memberOf } from '../input/unread-json.ts'
import { askControl, type ControlOptions } from '../serve/control-client.ts'
import { isLoopback } from '../serve/secret.ts'
import { CommandError, EXIT } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'
import { type Claim, claimsIn, lastingClaims } from './claims.ts'

// Gets tokens with one wrong claim from `portcullis serve`, because nobody but the issuer can sign them.

/** Tokens that `portcullis serve` has signed for a probe. */
export type Minted = NonNullable<Awaited<ReturnType<typeof mintedTokens>>>

/** Seconds. More than any API tolerates. */
const LONG = 3600
/** Nobody is called so: RFC 2606 section 2. */
const STRANGER = 'https://portcullis-probe.invalid'

/**
 * Asks a `portcullis serve` of the user alone: on this machine, or at `PORTCULLIS_URL`. `undefined` if the issuer does not mint.
 * @param good The user's token: those that are minted have its claims.
 */
export async function mintedTokens(
  issuerUrl: string,
  good: string | undefined,
  { allowInsecure }: Pick<ControlOptions, 'allowInsecure'>,
  context: Context,
) {
  const url = serviceUrl(issuerUrl, context)
  if (url === undefined) return undefined
  const where = { url, ...(allowInsecure === true && { allowInsecure }) }
  try {
    const state = await askControl('state', undefined, where, context)
    const claims = good === undefined ? claimsOfLogin(state) : lastingClaims(good)
    const mint = async (changed: object, times: object = {}) => {
      const body = { claims: { ...claims, ...changed }, ...times }
      const { token } = await askControl('mint', body, where, context)
      if (typeof token !== 'string') throw new CommandError(EXIT.undecided, 'no token was minted')
      return token
    }
    const right = await mint({})
    const named = (['iss', 'aud'] as const).filter((name) => claimsIn(right)[name] !== undefined)
    const wrong: readonly (readonly [Claim, string, string])[] = [
      ['exp', 'minted, expired', await mint({}, { expiresIn: -LONG })],
      ['nbf', 'minted, not yet valid', await mint({}, { notBefore: LONG, expiresIn: 2 * LONG })],
      ...(await Promise.all(
        named.map(async (name) => [name, NAMES[name], await mint({ [name]: STRANGER })] as const),
      )),
    ]
    return {
      right,
      wrong: wrong.map(([claim, name, token]) => ({ claim, name, token, right, isMinted: true })),
    }
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}

const NAMES = { iss: 'minted, another issuer', aud: 'minted, another audience' } as const

function serviceUrl(issuerUrl: string, { env }: Context): string | undefined {
  if (!URL.canParse(issuerUrl)) return undefined
  const { origin, hostname } = new URL(issuerUrl)
  const known = env['PORTCULLIS_URL'] ?? ''
  const isKnown = URL.canParse(known) && new URL(known).origin === origin
  return isKnown || isLoopback(hostname) ? origin : undefined
}

function claimsOfLogin({ logins }: Readonly<Record<string, unknown>>): object {
  const first: unknown = Array.isArray(logins) ? logins[0] : undefined
  return { sub: memberOf(first, 'loginId'), ...Object(memberOf(first, 'claims')) } as object
}
