import type { Auth } from '../claims/auth.ts'
import { expiry } from '../claims/expiry.ts'
import {
  checkOptions,
  hasMethods,
  isClock,
  isFunction,
  own,
  ownMembers,
} from '../ground/options.ts'
import { type Clock, systemClock } from '../ground/time.ts'
import { noVerdict } from '../keys/details.ts'
import { AuthError } from '../refusal/errors.ts'
import { NO_WATCH, watchRevocations } from './revocation-watch.ts'
import type { Verifier } from './verifier.ts'

export interface WatchTokenOptions {
  /** Where time comes from, for tests. By default the system's, with timers that keep no process alive. */
  clock?: Clock | undefined
}

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
  options: WatchTokenOptions = {},
): () => void {
  if (!hasMethods(verifier, 'verify')) {
    throw new TypeError('watchToken: the first argument must be a verifier')
  }
  if (isFunction(onRefusal) !== undefined) {
    throw new TypeError('watchToken: the third argument must be a function')
  }
  checkOptions('watchToken', options, { clock: isClock })
  const { clock = backgroundClock } = ownMembers(options)
  const { token } = auth
  const possession = own(auth, 'possession')
  // What its sender had proven holds for as long as the connection.
  const verifyAgain = async () =>
    await (possession === undefined
      ? verifier.verify(token)
      : verifier.verify(token, { possession }))
  const end = expiry(auth)
  let isOver = false
  let isJudging = false
  /** Whether something was revoked since the verdict under way was asked for. */
  let isOutdated = false
  let cancel = nothing
  let revocations = NO_WATCH

  function plan(): () => void {
    const left = end - clock.now()
    // For what is no number of seconds, timers do not wait at all.
    const wait = Number.isFinite(left) ? Math.min(Math.max(left, SHORTEST), LONGEST) : LONGEST
    return clock.after(wait, () => void judge())
  }

  function judgeNow(): void {
    if (isOver) return
    isOutdated = true
    if (isJudging) return
    cancel()
    void judge()
  }

  async function judge(): Promise<void> {
    isJudging = true
    let refused: { readonly error: unknown } | undefined
    do {
      isOutdated = false
      cancel = clock.after(PATIENCE, () => {
        refuse(new AuthError('keys_unavailable', 'timeout', noVerdict(PATIENCE)))
      })
      refused = await refusalOf(verifyAgain)
      // It may have ended while the verifier was at work.
      if (isOver) return
      cancel()
      // If something was revoked since then, this says so at once.
      if (refused === undefined) revocations.renew()
    } while (refused === undefined && isOutdated)
    isJudging = false
    if (refused === undefined) cancel = plan()
    else refuse(refused.error)
  }

  function refuse(error: unknown): void {
    stop()
    void tell(onRefusal, error)
  }

  function stop(): void {
    isOver = true
    cancel()
    revocations.end()
  }

  // First: if the token may have been revoked already, this asks for a verdict at once, and no timer is needed before that.
  revocations = watchRevocations(verifier, auth, judgeNow)
  if (!isJudging) cancel = plan()
  return stop
}

function nothing(): void {}

async function refusalOf(
  verify: () => Promise<unknown>,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    await verify()
    return undefined
  } catch (error) {
    return { error }
  }
}

/** No caller could catch what is thrown behind a timer, and the process would end. */
async function tell(onRefusal: (error: unknown) => unknown, error: unknown): Promise<void> {
  try {
    await onRefusal(error)
  } catch (fault) {
    process.emitWarning(fault instanceof Error ? fault : 'onRefusal failed')
  }
}

/** An open connection keeps a process alive by itself; the watch of it must not. */
const backgroundClock: Clock = {
  ...systemClock,
  after(seconds, fn) {
    const timer: unknown = setTimeout(fn, seconds * 1000)
    // Outside Node a timer may be a number.
    if (hasMethods(timer, 'unref')) (timer as NodeJS.Timeout).unref()
    return () => {
      clearTimeout(timer as NodeJS.Timeout)
    }
  },
}
