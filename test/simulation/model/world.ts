import type { JsonWebKey } from 'node:crypto'

import { AuthError, createVerifier, type KeysSnapshot, type Verifier } from '@portcullis/core'
import { type ManualClock, manualClock } from '@portcullis/testing'

import { fetchKeys } from '../../../packages/core/src/keys/fetch-keys.ts'
import { followKeys, type RemoteKeys } from '../../../packages/core/src/keys/key-cache.ts'
import { checkRemoteKeysOptions } from '../../../packages/core/src/keys/remote-keys-options.ts'
import { seededRandom } from '../../bench/random.ts'
import { type Connection, createEndpoint, type Endpoint } from './endpoint.ts'
import { LIST, nameOf, type Signer } from './keys.ts'
import { createTrust, TIMEOUT, type Trust } from './trust.ts'

// A process that starts again and again, each time one key source with several verifiers; an endpoint, a clock, and whatever
// contradicts what is promised of them.

/** What a sequence is played with. Seconds. */
export interface Setting {
  readonly overlap: number
  readonly maxAge: number | undefined
  readonly staleWhileRevalidate: number
  readonly staleIfError: number
  readonly seed: number
  /** Whether the runtime ends what a request has begun with it. */
  readonly endsWithRequest: boolean
}

/** One life of the process. */
interface Process {
  readonly connection: Connection
  readonly keys: RemoteKeys
  readonly subjects: readonly Subject[]
}

/** A verifier, and what one of its kind may trust. */
interface Subject {
  readonly verifier: Verifier
  readonly trust: Trust
}

export interface World {
  readonly clock: ManualClock
  readonly endpoint: Endpoint
  /** Of the process that runs now. */
  readonly keys: RemoteKeys
  /** The requests of each process. */
  readonly connections: readonly Connection[]
  /** Saves a snapshot, if there is anything to save. */
  readonly save: () => void
  /** Another process begins, with what was saved last or with nothing. Who waits in the old one goes on waiting there. */
  readonly restart: (withSnapshot: boolean) => void
  /** Hands a token to a verifier. The answer is the verdict: `accepted`, or the reason; it is watched as well. */
  readonly present: (
    verifier: number,
    token: string,
    signer: Signer,
    signal?: AbortSignal,
  ) => Promise<string>
  readonly refresh: () => void
  /** Ends what every process has under way. */
  readonly cut: () => void
  /** Sets the wall clock by so many seconds, forward or back. */
  readonly step: (seconds: number) => void
  /** The latest that the wall clock has ever shown: keys may have left at that time. */
  readonly latest: () => number
  /** How many calls have no answer yet. */
  readonly pending: () => number
  /** What contradicts a promise, in words. */
  readonly faults: string[]
  readonly close: () => void
}

/** What a token is refused for that no trusted key proves. */
const UNPROVEN: ReadonlySet<string> = new Set(['algorithm', 'unknown_key', 'signature'])

const KEY_URL = 'https://auth.test/pubkey.json'

export function createWorld({ seed, endsWithRequest, ...options }: Setting): World {
  const clock = manualClock()
  const endpoint = createEndpoint(clock)
  const random = seededRandom(seed)
  const faults: string[] = []
  const processes: Process[] = []
  let saved: string | undefined
  let running = start(undefined)
  let pending = 0
  let latest = clock.now()

  function start(text: string | undefined): Process {
    const snapshot = text === undefined ? undefined : (JSON.parse(text) as KeysSnapshot)
    const connection = endpoint.connect()
    const { fetch } = connection
    const { exchange, cacheOf } = checkRemoteKeysOptions('remoteKeys', {
      ...options,
      timeout: TIMEOUT,
      fetch,
      clock,
      snapshot,
    })
    const keys = followKeys(
      async (signal) => await fetchKeys(KEY_URL, exchange(signal), {}),
      { ...cacheOf(KEY_URL), endsWithRequest },
      random,
    )
    const begun = snapshot && { keys: namesIn(snapshot), fetchedAt: snapshot.fetchedAt }
    const { overlap } = options
    const common = { keys, issuer: null, audience: null } as const
    const listed = { ...common, algorithms: LIST }
    const trust = createTrust(clock, connection, keys, { overlap, begun, isListed: true })
    const unlisted = createTrust(clock, connection, keys, { overlap, begun, isListed: false })
    const subjects = [
      { verifier: createVerifier(listed), trust },
      { verifier: createVerifier(common), trust: unlisted },
      { verifier: createVerifier({ ...listed, remember: false }), trust },
      { verifier: createVerifier(common), trust: unlisted },
    ]
    const process = { connection, keys, subjects }
    processes.push(process)
    return process
  }

  async function present(
    verifier: number,
    token: string,
    signer: Signer,
    signal?: AbortSignal,
  ): Promise<string> {
    const { subjects } = running
    const subject = subjects[verifier % subjects.length]
    const wasOverlapping = subject?.trust.isOverlapping(signer) ?? false
    pending++
    try {
      await subject?.verifier.verify(token, { signal })
      faults.push(...(subject?.trust.objections(signer) ?? []))
      return 'accepted'
    } catch (error) {
      if (error instanceof AuthError) {
        const isMissed = UNPROVEN.has(error.reason) && wasOverlapping
        if (isMissed && subject?.trust.isOverlapping(signer) === true) {
          faults.push(`refused a token of ${signer} in the overlap: ${error.reason}`)
        }
        return error.reason
      }
      if (signal?.aborted !== true || error !== signal.reason) faults.push(`threw ${String(error)}`)
      return 'aborted'
    } finally {
      pending--
    }
  }

  return {
    clock,
    endpoint,
    get keys() {
      return running.keys
    },
    get connections() {
      return processes.map(({ connection }) => connection)
    },
    save() {
      const snapshot = running.keys.toSnapshot()
      if (snapshot !== undefined) saved = JSON.stringify(snapshot)
    },
    restart(withSnapshot) {
      running = start(withSnapshot ? saved : undefined)
    },
    present,
    refresh() {
      pending++
      void running.keys
        .refresh()
        .catch((error: unknown) => {
          if (!(error instanceof AuthError)) faults.push(`refresh threw ${String(error)}`)
        })
        .finally(() => pending--)
    },
    cut() {
      for (const { connection } of processes) connection.cut()
    },
    step(seconds) {
      latest = Math.max(latest, clock.now())
      clock.set(clock.now() + seconds)
      for (const { trust } of processes.flatMap(({ subjects }) => subjects)) trust.stepped()
    },
    latest: () => Math.max(latest, clock.now()),
    pending: () => pending,
    faults,
    close() {
      for (const { trust } of processes.flatMap(({ subjects }) => subjects)) trust.close()
    },
  }
}

function namesIn({ document }: KeysSnapshot) {
  const entries = Array.isArray(document['keys']) ? document['keys'] : [document]
  return entries.map((entry) => nameOf(entry as JsonWebKey))
}
