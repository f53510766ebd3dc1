import type { Auth } from '../claims/auth.ts'

/** Tells that a token may have been revoked, while a connection is open. */
export interface RevocationWatch {
  /**
   * Looks who judges the token now. If that is another verifier than before, its revocations are watched from now on, and
   * the listener is called if they may have revoked the token already.
   */
  renew(): void
  end(): void
}

/** Calls a function each time that a token may have been revoked, and at once if it may have been already. */
export type WatchRevocations = (auth: Auth<unknown>, listener: () => void) => RevocationWatch

/** By the function `verify` itself: whoever replaces it may accept what the verifier behind it would not. */
const watches = new WeakMap<object, WatchRevocations>()

export const NO_WATCH: RevocationWatch = { renew() {}, end() {} }

export function setRevocationWatch(verify: object, watch: WatchRevocations): void {
  watches.set(verify, watch)
}

/** As {@link WatchRevocations}, for the `verify` that this verifier has at this moment; if it has no revocations, nothing. */
export function watchRevocations(
  { verify }: { readonly verify: object },
  auth: Auth<unknown>,
  listener: () => void,
): RevocationWatch {
  return watches.get(verify)?.(auth, listener) ?? NO_WATCH
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
