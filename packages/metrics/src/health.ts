// What probes are told: liveness asks nobody, and readiness is never taken back by an outage.

/** What `createHealth` returns: the statuses of HTTP for two probes. */
export interface Health {
  /** 200 for a process that answers. It asks nobody: a restart does not mend a key endpoint. */
  live(): 200
  /** 200 from the first time that tokens could be judged until the process is told to end. */
  ready(): 200 | 503
  /** From now on not ready: no new requests should come. */
  drain(): void
}

/**
 * What probes are told. A process that was ready stays ready while the key endpoint is down: all others see the same outage, and
 * if all became unready at once, nobody would be left to answer. The first `ready()` can be 503: it causes the first fetch of
 * keys, and does not wait for it.
 *
 * @param verifier What `createVerifier`, `byIssuer` or `introspected` returned.
 * @throws TypeError
 */
export function createHealth(verifier: { ready(): Promise<unknown> }): Health {
  if (typeof Reflect.get(Object(verifier), 'ready') !== 'function') {
    // Mistake `createHealth needs a verifier`: Give what `createVerifier`, `byIssuer` or `introspected` returned.
    throw new TypeError('createHealth needs a verifier')
  }
  let hasBeenReady = false
  let isDraining = false
  let attempt: Promise<void> | undefined

  async function prepare(): Promise<void> {
    try {
      await verifier.ready()
      hasBeenReady = true
    } catch {
      // Not yet. The next probe asks again; the verifier keeps attempts apart.
      attempt = undefined
    }
  }

  return {
    live: () => 200,
    ready() {
      // A probe never waits for the attempt that it causes.
      attempt ??= prepare()
      return hasBeenReady && !isDraining ? 200 : 503
    },
    drain() {
      isDraining = true
    },
  }
}
