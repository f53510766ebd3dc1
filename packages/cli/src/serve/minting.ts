import type { TestIssuer } from '@portcullis/testing'

import { InputError } from './input.ts'
import { alternatives, nearest } from './nearest.ts'
import type { MintInput } from './requests.ts'

// Makes the tokens that `mint` and the console ask for, and says what is wrong with what they ask.

/** @throws InputError if no such token can be made. */
export async function mintedBy(
  issuer: TestIssuer,
  kind: string | undefined,
  options: Omit<MintInput, 'kind'>,
): Promise<string> {
  try {
    return await (kind === undefined ? issuer.token(options) : badToken(issuer, kind, options))
  } catch (error) {
    if (error instanceof InputError) throw error
    // Whatever the token was asked to be: nothing but the request decides whether it can be signed.
    throw new InputError(`this token cannot be signed: ${messageOf(error)}`)
  }
}

/** One of each kind. @throws InputError if they cannot be made. */
export async function badTokensBy(
  issuer: TestIssuer,
  options: Pick<MintInput, 'claims' | 'header'>,
): ReturnType<TestIssuer['badTokens']> {
  try {
    return await issuer.badTokens(options)
  } catch (error) {
    throw new InputError(`these tokens cannot be signed: ${messageOf(error)}`)
  }
}

async function badToken(
  issuer: TestIssuer,
  kind: string,
  { claims, header, ...others }: Omit<MintInput, 'kind'>,
): Promise<string> {
  const [other] = Object.keys(others)
  if (other !== undefined) throw new InputError(`${other} does not go with a bad kind`)
  const table = await issuer.badTokens({ claims, header })
  const row = table.find(({ name }) => name === kind)
  if (row === undefined) {
    throw new InputError(
      `there is no such kind of bad token${guess(kind, table)} \`portcullis mint --kinds\` lists all`,
    )
  }
  return row.token
}

function guess(kind: string, table: readonly { readonly name: string; readonly reason: string }[]) {
  const ofReason = table.filter(({ reason }) => reason === kind).map(({ name }) => name)
  const names = table.map(({ name }) => name)
  const meant = ofReason.length > 0 ? ofReason.slice(0, 3) : nearest(kind, names)
  const quoted = meant.map((name) => `'${name}'`)
  return meant.length === 0 ? ';' : `: did you mean ${alternatives(quoted)}?`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
