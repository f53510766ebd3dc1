import type { Fetch } from '@portcullis/core'
import type { ManualClock } from '@portcullis/testing'

import { type KeyName, publicJwk } from './keys.ts'

/** How the endpoint answers. `garbage` is a document without a usable key. */
export type Mode = 'up' | 'slow' | 'down' | 'hanging' | 'garbage'

/** Which of its two replicas answers. */
export type Route = 'first' | 'second' | 'in turn'

export interface Endpoint {
  /** For a process that starts: what is recorded is recorded of it alone. */
  readonly connect: () => Connection
  mode: Mode
  route: Route
  /** The keys that each replica serves; one key is a bare document. */
  readonly published: [readonly KeyName[], readonly KeyName[]]
  headers: Readonly<Record<string, string>>
  /** Whether it has ended the idle connection that the next request takes. */
  hasEnded: boolean
}

/** One process, as the endpoint sees it. */
export interface Connection {
  readonly fetch: Fetch
  /** When requests came, but for those that repeat a lost one: monotonic seconds. */
  readonly requests: number[]
  /** The keys of the last document that was sent, and when it was asked for. */
  readonly lastAnswer: () => { readonly keys: readonly KeyName[]; readonly askedAt: number }
  /** The most requests that were under way at one time. */
  readonly mostAtOnce: () => number
  /** How many requests were lost with an idle connection, after others had been answered, and not repeated at once. */
  readonly unrepeated: () => number
  /** Ends what is under way, as a runtime does with the request that began it: it never has an answer. */
  readonly cut: () => void
}

/** Seconds. */
export const ROUND_TRIP = 0.02
const SLOW = 4.9

export function createEndpoint(clock: ManualClock): Endpoint {
  const endpoint: Endpoint = {
    connect: () => connect(clock, endpoint),
    mode: 'up',
    route: 'first',
    published: [['A'], ['A']],
    headers: {},
    hasEnded: false,
  }
  return endpoint
}

function connect(clock: ManualClock, endpoint: Endpoint): Connection {
  let lastAnswer: { keys: readonly KeyName[]; askedAt: number } = { keys: [], askedAt: 0 }
  let underWay = 0
  let mostAtOnce = 0
  let hasAnswered = false
  let lostAt: number | undefined
  let unrepeated = 0
  let cuts = 0

  const requests: number[] = []
  return {
    requests,
    unrepeated: () => unrepeated,
    lastAnswer: () => lastAnswer,
    mostAtOnce: () => mostAtOnce,
    cut() {
      cuts++
      underWay = 0
    },
    async fetch(_url, { signal }) {
      const askedAt = clock.monotonic()
      const cutsBefore = cuts
      if (askedAt === lostAt) unrepeated--
      else requests.push(askedAt)
      lostAt = undefined
      if (endpoint.hasEnded) {
        endpoint.hasEnded = false
        lostAt = hasAnswered ? askedAt : undefined
        if (hasAnswered) unrepeated++
        throw new TypeError('fetch failed')
      }
      underWay++
      mostAtOnce = Math.max(mostAtOnce, underWay)
      // An attempt ends with this, whatever its outcome.
      signal.addEventListener('abort', () => {
        if (cuts === cutsBefore) underWay--
      })
      const { mode } = endpoint
      if (mode === 'hanging') return await new Promise(() => {})
      await new Promise<void>((resolve) => {
        clock.after(mode === 'slow' ? SLOW : ROUND_TRIP, resolve)
      })
      if (cuts > cutsBefore) return await new Promise(() => {})
      const { headers } = endpoint
      hasAnswered ||= mode !== 'down'
      if (mode === 'down') return answer(503, headers, {})
      if (mode === 'garbage') return answer(200, headers, { keys: [] })
      const keys = endpoint.published[replicaOf(endpoint, requests)]
      lastAnswer = { keys, askedAt }
      return answer(200, headers, documentOf(keys))
    },
  }
}

function replicaOf({ route }: Endpoint, requests: readonly number[]): 0 | 1 {
  if (route === 'in turn') return requests.length % 2 === 0 ? 0 : 1
  return route === 'first' ? 0 : 1
}

function documentOf(keys: readonly KeyName[]): object {
  const [key] = keys
  return key !== undefined && keys.length === 1
    ? publicJwk(key)
    : { keys: keys.map((name) => publicJwk(name)) }
}

function answer(status: number, headers: Readonly<Record<string, string>>, document: object) {
  return {
    status,
    redirected: false,
    url: '',
    headers: { get: (name: string) => headers[name] ?? null },
    body: chunksOf(JSON.stringify(document)),
  }
}

async function* chunksOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text)
}
