import { memberOf, partOf } from '../input/unread-json.ts'
import { askControl, type ControlOptions } from '../serve/control-client.ts'
import { isLoopback } from '../serve/secret.ts'
import { CommandError, EXIT } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'
import type { NamedToken } from './cases.ts'
import { claimsIn, lastingClaims, type WrongToken } from './claims.ts'
import type { MintedTokens } from './credentials.ts'
import { badKind } from './kinds.ts'

// Gets bad tokens of every kind from `portcullis serve`, because nobody but the issuer can sign most of them.

/** Seconds. Longer than a probe takes, and not so long that an API refuses it for that. */
const LIFETIME = 600
/** Nobody is called so: RFC 2606 section 2. */
const STRANGER = 'https://portcullis-probe.invalid'

/**
 * Asks a `portcullis serve` of the user alone: on this machine, or at `PORTCULLIS_URL`. `undefined` if the issuer does not mint.
 * @param good The user's token: those that are minted have its claims and its type.
 */
export async function mintedTokens(
  issuerUrl: string,
  good: string | undefined,
  { allowInsecure }: Pick<ControlOptions, 'allowInsecure'>,
  context: Context,
): Promise<MintedTokens | undefined> {
  const url = serviceUrl(issuerUrl, context)
  if (url === undefined) return undefined
  const where = { authUrl: url, ...(allowInsecure === true && { allowInsecure }) }
  try {
    const state = await askControl('state', undefined, where, context)
    const exp = Math.floor(Number(state['now'])) + LIFETIME
    const claims = { ...(good === undefined ? claimsOfLogin(state) : lastingClaims(good)), exp }
    const header = headerLike(good)
    const mint = async (changed: object) => {
      const body = { header, claims: { ...claims, ...changed } }
      return textIn(await askControl('mint', body, where, context), 'token')
    }
    const right = await mint({})
    const bad = badTokensIn(await askControl('mint/bad', { header, claims }, where, context))
    const listed = bad.flatMap(({ name, token }) => wrongToken(name, token, right))
    const others = await Promise.all(
      (['iss', 'aud'] as const)
        // Of tokens that have one, though the service was not told to write it.
        .filter((name) => isUntested(name, claimsIn(right), listed))
        .map(async (name) => wrongToken(STRANGERS[name], await mint({ [name]: STRANGER }), right)),
    )
    return {
      right,
      wrong: [...listed, ...others.flat()],
      forged: bad
        .filter(({ name }) => isForged(name))
        .map(({ name, token }) => ({ name: `minted, ${name}`, token })),
    }
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}

const STRANGERS = { iss: 'wrong issuer', aud: 'wrong audience' } as const

function isUntested(name: 'iss' | 'aud', claims: object, listed: readonly WrongToken[]): boolean {
  return memberOf(claims, name) !== undefined && listed.every(({ check }) => check !== name)
}

function isForged(name: string): boolean {
  const kind = badKind(name)
  return kind !== undefined && kind.check === undefined
}

function wrongToken(name: string, token: string, right: string): readonly WrongToken[] {
  const { check, accepted } = badKind(name) ?? {}
  if (check === undefined || accepted === undefined) return []
  return [{ name: `minted, ${name}`, token, check, accepted, isMade: true, right }]
}

function badTokensIn({ tokens }: Readonly<Record<string, unknown>>): readonly NamedToken[] {
  if (!Array.isArray(tokens)) throw notMinted()
  return tokens.map((each: unknown) => ({
    name: textIn(each, 'name'),
    token: textIn(each, 'token'),
  }))
}

function textIn(value: unknown, name: string): string {
  const text = memberOf(value, name)
  if (typeof text !== 'string') throw notMinted()
  return text
}

function notMinted(): CommandError {
  return new CommandError(EXIT.undecided, 'no token was minted')
}

/** The type alone: whatever else is in a header, the issuer writes itself. */
function headerLike(good: string | undefined): object {
  const typ = good === undefined ? undefined : memberOf(partOf(good, 'header'), 'typ')
  return typeof typ === 'string' ? { typ } : {}
}

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
