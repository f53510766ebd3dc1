import {
  checkOptions,
  hasMethods,
  isClock,
  isFunction,
  own,
  ownMembers,
} from '@portcullis/kit/options'
import { callListener } from '@portcullis/kit/report'
import { backgroundClock, type Clock } from '@portcullis/kit/time'

import type { Auth } from '../claims/auth.ts'
import { expiry } from '../claims/expiry.ts'
import { checkAuth } from '../claims/signed-claims.ts'
import { noVerdict } from '../keys/details.ts'
import { AuthError } from '../refusal/errors.ts'
import { checkOurVerifier } from './internals.ts'
import { NO_WATCH, watchRevocations } from './revocation-watch.ts'
import type { Verifier } from './verifier.ts'

// Judges the token of an open connection again and again, until it is refused.

/** The longest time between two checks, in seconds. A timer of the platform cannot wait for more than 24 days. */
const LONGEST = 60
/** The shortest one: an expired token may be accepted for the verifier's `clockTolerance`. */
const SHORTEST = 1
/** How long a verdict may take, in seconds: as long as keys may be waited for. A schema might never settle. */
const PATIENCE = 60

/**
 * Watches the token of a connection that stays open after its request: a WebSocket, or a stream of events.
 *
 * The verifier checks the token again when it expires, when its revocations say that something was revoked, and once a
 * minute. So a connection also ends when the key of its token was withdrawn, in an outage in which a new request would get
 * 503, or when a check takes longer than a minute.
 *
 * @param verifier If its `verify` has been replaced, the token is checked only when it expires and once a minute.
 * @param auth What the verifier has returned.
 * @param onRefusal Called once, with the AuthError that `verify` throws. It should end the connection. If it throws, the
 *   process emits a warning.
 * @returns A function that ends the watch: call it when the connection is closed.
 * @throws TypeError for a wrong or misspelt option.
 */
export function watchToken(
  verifier: Pick<Verifier<unknown>, 'verify'>,
  auth: Auth<unknown>,
  onRefusal: (error: unknown) => unknown,
  options: {
    /** Where time comes from, for tests. By default the system's, with timers that keep no process alive. */
    clock?: Clock | undefined
  } = {},
): () => void {
  if (!hasMethods(verifier, 'verify')) {
    throw new TypeError('watchToken: the first argument must be a verifier')
  }
  checkOurVerifier('watchToken', 'the verifier', verifier)
  checkAuth('watchToken', auth)
  if (isFunction(onRefusal) !== undefined) {
    // Mistake `…: the third argument must be a function`: Give a function: what handles a request that was let through, or
    // `onRefusal` of `watchToken`.
    throw new TypeError('watchToken: the third argument must be a function')
  }
  checkOptions('watchToken', options, { clock: isClock })
  const { clock = backgroundClock } = ownMembers(options)
  const end = expiry(auth)
  let revocations = NO_WATCH
  const checks = repeatChecks({
    check: checkOf(verifier, auth),
    pause() {
      const left = end - clock.now()
      // For what is no number of seconds, timers do not wait at all.
      return Number.isFinite(left) ? Math.min(Math.max(left, SHORTEST), LONGEST) : LONGEST
    },
    clock,
    onAccepted() {
      // If something was revoked since the verdict was asked for, this says so at once.
      revocations.renew()
    },
    onRefused(error) {
      stop()
      void callListener('onRefusal', () => onRefusal(error))
    },
  })

  function stop(): void {
    checks.stop()
    revocations.end()
  }

  // First: if the token may have been revoked already, this asks for a verdict at once, and no timer is needed before that.
  revocations = watchRevocations(verifier, auth, checks.checkNow)
  checks.start()
  return stop
}

/** What its sender had proven holds for as long as the connection. */
function checkOf(
  verifier: Pick<Verifier<unknown>, 'verify'>,
  auth: Auth<unknown>,
): () => Promise<unknown> {
  const { token } = auth
  const possession = own(auth, 'possession')
  return async () =>
    await (possession === undefined
      ? verifier.verify(token)
      : verifier.verify(token, { possession }))
}

interface RepeatOptions {
  /** Rejects for a refusal. It is not called again before it has settled. */
  readonly check: () => Promise<unknown>
  /** Seconds until the next check. */
  readonly pause: () => number
  readonly clock: Clock
  readonly onAccepted: () => void
  /** Called once, for the first refusal, or if a check takes too long. */
  readonly onRefused: (error: unknown) => void
}

/** A token that is checked again and again, until it is refused or nobody is interested any more. */
interface RepeatedChecks {
  start(): void
  /** The verdict under way is out of date then, and asked for again. */
  readonly checkNow: () => void
  stop(): void
}

function repeatChecks(options: RepeatOptions): RepeatedChecks {
  const { check, pause, clock, onAccepted, onRefused } = options
  let isOver = false
  let isChecking = false
  let isOutdated = false
  let cancel = nothing

  function start(): void {
    if (!isChecking) cancel = clock.after(pause(), () => void checkAgain())
  }

  function checkNow(): void {
    if (isOver) return
    isOutdated = true
    if (isChecking) return
    cancel()
    void checkAgain()
  }

  async function checkAgain(): Promise<void> {
    isChecking = true
    let failure: { readonly error: unknown } | undefined
    do {
      isOutdated = false
      cancel = clock.after(PATIENCE, () => {
        onRefused(new AuthError('keys_unavailable', 'timeout', noVerdict(PATIENCE)))
      })
      failure = await failureOf(check)
      // It may have ended while the verifier was at work.
      if (isOver) return
      cancel()
      if (failure === undefined) onAccepted()
    } while (failure === undefined && isOutdated)
    isChecking = false
    if (failure === undefined) start()
    else onRefused(failure.error)
  }

  function stop(): void {
    isOver = true
    cancel()
  }

  return { start, checkNow, stop }
}

function nothing(): void {}

async function failureOf(
  check: () => Promise<unknown>,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return { error }
  }
}
