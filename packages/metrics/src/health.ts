import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { checkOptions, isClock, ownMembers, seconds } from '@portcullis/kit/options'
import { backgroundClock, type Clock } from '@portcullis/kit/time'

// What probes are told: liveness asks nobody, and readiness, once reached, is taken back by no outage.

/** What `createHealth` returns: the statuses of HTTP for two probes. */
export interface Health {
  /** 200 for a process that answers. It asks nobody: a restart does not mend a key endpoint. */
  live(): 200
  /**
   * 200 from the first time that a token was accepted or could have been, until the process is told to end. Before, it waits
   * for the preparation, at most `timeout`. It never rejects.
   */
  ready(): Promise<200 | 503>
  /** From now on not ready: no new requests should come. */
  drain(): void
}

export interface HealthOptions {
  /**
   * How long a probe may wait. It has to be shorter than the probe's own timeout, which is 1 s in Kubernetes if
   * `timeoutSeconds` is not stated. Seconds.
   * @default 1
   */
  timeout?: number | undefined
  /**
   * Whose accepted tokens show that the process is ready. For `byIssuer` and `byForm` name the verifiers inside: each tells of
   * its own tokens.
   * @default [verifier]
   */
  verifiers?: readonly object[] | undefined
  clock?: Clock | undefined
}

/** Seconds. Longer than any preparation of ours: what has not ended then may never do so. */
const LONGEST_PREPARATION = 30
/** Of core. */
const VERDICTS = 'portcullis:verify'

/**
 * What probes are told. A process that was ready stays ready while the key endpoint is down: all others see the same outage, and
 * if all became unready at once, nobody would be left to answer.
 *
 * A refusal does not make it ready: that a token is refused does not show that another one could be accepted.
 *
 * @param verifier What `createVerifier`, `byIssuer` or `introspected` returned.
 * @throws TypeError for what is no verifier, and for a wrong option.
 */
export function createHealth(
  verifier: { ready(): Promise<unknown> },
  options: HealthOptions = {},
): Health {
  if (typeof Reflect.get(Object(verifier), 'ready') !== 'function') {
    // Mistake `createHealth needs a verifier`: Give what `createVerifier`, `byIssuer` or `introspected` returned.
    throw new TypeError('createHealth needs a verifier')
  }
  checkOptions('createHealth', options, {
    timeout: seconds(0.01, 60),
    verifiers: (value) =>
      Array.isArray(value) && value.length > 0 && value.every(isObject)
        ? undefined
        : 'must be a list of verifiers',
    clock: isClock,
  })
  const { timeout = 1, verifiers = [verifier], clock = backgroundClock } = ownMembers(options)
  const judges = new Set<unknown>(verifiers)
  let hasBeenReady = false
  let isDraining = false
  /** When the preparation under way has begun, by the monotonic clock. */
  let preparing: { readonly startedAt: number } | undefined
  const waiting = new Set<() => void>()

  function endWaits(): void {
    for (const end of waiting) end()
  }

  function isReady(): void {
    hasBeenReady = true
    unsubscribe(VERDICTS, listen)
    endWaits()
  }

  function listen(message: unknown): void {
    // Anybody may publish on a channel, and an error here would end the process.
    const { verifier: judge, code } = Object(message) as { verifier?: unknown; code?: unknown }
    if (code === undefined && judges.has(judge)) isReady()
  }

  async function prepare(): Promise<void> {
    const now = clock.monotonic()
    if (preparing !== undefined && now - preparing.startedAt < LONGEST_PREPARATION) return
    const mine = { startedAt: now }
    preparing = mine
    try {
      await verifier.ready()
      isReady()
    } catch {
      // Not yet. The next probe asks again; the verifier keeps attempts apart.
      if (preparing !== mine) return
      preparing = undefined
      endWaits()
    }
  }

  async function waitInTurn(): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel()
        waiting.delete(end)
        resolve()
      }
      const cancel = clock.after(timeout, end)
      waiting.add(end)
      // After the probe waits: it may fail at once.
      void prepare()
    })
  }

  subscribe(VERDICTS, listen)
  return {
    live: () => 200,
    async ready() {
      if (!hasBeenReady && !isDraining) await waitInTurn()
      return hasBeenReady && !isDraining ? 200 : 503
    },
    drain() {
      isDraining = true
      endWaits()
    },
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
