import type { Auth } from './auth.ts'
import { noVerdict } from './details/keys.ts'
import { AuthError } from './errors.ts'
import { isJsonObject, member } from './json.ts'
import { checkOptions, hasMethods, isClock, isFunction, ownMembers } from './options.ts'
import { type Clock, systemClock } from './time.ts'
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
 * Watches the token of what outlives its request: a WebSocket, or a stream of events.
 *
 * The verifier judges the token again when it expires, and once a minute. So a token whose key was withdrawn ends a
 * connection as well, and so does an outage in which a new request would get 503, or a verdict that takes a minute.
 *
 * @param auth What the verifier has returned. If a schema takes `exp` away, an expiry is noticed within a minute.
 * @param onRefusal Called once, with what `verify` throws: an AuthError. It should end the connection. Its own failure is a
 *   warning of the process.
 * @returns A function that ends the watch: for the event that says that the connection is closed.
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
  const expiry = expiryOf(auth)
  let isOver = false
  let cancel = plan()

  function plan(): () => void {
    const left = expiry - clock.now()
    // For what is no number of seconds, timers do not wait at all.
    const wait = Number.isFinite(left) ? Math.min(Math.max(left, SHORTEST), LONGEST) : LONGEST
    return clock.after(wait, () => void judge())
  }

  async function judge(): Promise<void> {
    cancel = clock.after(PATIENCE, () => {
      end(new AuthError('keys_unavailable', 'timeout', noVerdict(PATIENCE)))
    })
    const refused = await refusalOf(verifier, token)
    // It may have ended while the verifier was at work.
    if (isOver) return
    cancel()
    if (refused === undefined) cancel = plan()
    else end(refused.error)
  }

  function end(error: unknown): void {
    isOver = true
    void tell(onRefusal, error)
  }

  return () => {
    isOver = true
    cancel()
  }
}

async function refusalOf(
  verifier: Pick<Verifier<unknown>, 'verify'>,
  token: string,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    await verifier.verify(token)
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

/** With a schema the claims may be of any type. */
function expiryOf({ claims }: Auth<unknown>): number {
  const exp = isJsonObject(claims) ? member(claims, 'exp') : undefined
  return typeof exp === 'number' && Number.isFinite(exp) ? exp : Infinity
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
