import type { Auth } from '../claims/auth.ts'
import { isRecorded, signedClaims } from '../claims/signed-claims.ts'
import { findInternals, type Internals, type RevocationWatch } from './internals.ts'
import type { VerifierParts } from './verifier-parts.ts'

// How open connections hear that the token of theirs may have been revoked.

export const NO_WATCH: RevocationWatch = { renew() {}, end() {} }

/** Makes what hears of the revocations of one verifier; if it has none, nothing. */
export function createWatch({
  revocations,
  schema,
  now,
}: Pick<VerifierParts, 'revocations' | 'schema' | 'now'>): Internals['watch'] {
  if (revocations === undefined) return () => NO_WATCH
  return (auth, listener) => {
    const look = () => {
      // Of a copy that somebody has made of an `Auth`, nobody knows what the schema removed.
      const isKnown = schema === undefined || isRecorded(auth)
      const asked = { claims: signedClaims(auth), token: auth.token }
      if (!isKnown || !revocations.isValidNow(asked, now())) listener()
    }
    const end = revocations.subscribe(look)
    look()
    return { renew() {}, end }
  }
}

export function watchRevocations(
  verifier: { readonly verify: object },
  auth: Auth<unknown>,
  listener: () => void,
): RevocationWatch {
  return findInternals(verifier)?.watch(auth, listener) ?? NO_WATCH
}

/** The watch of a token whose verifier may be replaced. @param find Answers the one that judges it now, if there is one. */
export function watchInTurn(
  find: () => { readonly verify: object } | undefined,
  auth: Auth<unknown>,
  listener: () => void,
): RevocationWatch {
  let watched: object | undefined
  let watch = NO_WATCH
  function renew(): void {
    const verifier = find()
    if (verifier === watched) {
      watch.renew()
      return
    }
    watch.end()
    watched = verifier
    watch = verifier === undefined ? NO_WATCH : watchRevocations(verifier, auth, listener)
  }
  renew()
  return {
    renew,
    end() {
      watch.end()
    },
  }
}
