import { createHash } from 'node:crypto'

import type { Auth } from '@portcullis/core'
import { signedClaims } from '@portcullis/core/adapter'
import { textMember } from '@portcullis/core/verifier'

import { clientIdOf } from './auth-info.ts'

// Whose a session is: the issuer, the user and the client of a token, as one text of a fixed length.

/**
 * The same text for all tokens that one client has of one user from one issuer, and another one for every other token. The claims
 * are read as they were signed. Where a token names neither a user nor a client, nobody but this very token has the session.
 */
export function ownerOf(auth: Auth<unknown>, clientIdClaims: readonly string[]): string {
  const claims = signedClaims(auth)
  const user = textMember(claims, 'sub')
  const client = clientIdOf(claims, clientIdClaims)
  const isNameless = user === undefined && client === undefined
  const parts = isNameless ? [auth.token] : [textMember(claims, 'iss'), user, client]
  // A list, since a joined text could be cut in several ways. JSON writes `null` for what is not there.
  return digest(JSON.stringify(parts))
}

/** However long the text is, what is kept of it is not. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
