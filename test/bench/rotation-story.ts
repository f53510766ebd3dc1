import { createEventQueue } from './event-queue.ts'
import { createEndpoint } from './simulated-endpoint.ts'
import { createKey } from './simulated-key.ts'
import { createProcess, type SimulatedProcess, type Verdict } from './simulated-process.ts'

// What happens in one process, as it is told in KEYS.md of core: by the policy itself, in virtual time. Times are seconds
// before and after something has happened, which is at 0.

type KeyName = 'A' | 'B'

/** What happens when, and from when to when it is shown. */
export interface Story {
  readonly from: number
  readonly until: number
  /** When the token service changes from key A to key B. */
  readonly rotatesAt: number
  readonly outage?: Span
  /** The time between two tokens of each key; those of B begin with the rotation. */
  readonly interval: number
  /** How many tokens a shown one stands for. */
  readonly shownEvery?: number
  /** Forged tokens in a second, for as long as the story lasts. */
  readonly forged?: number
}

export interface Span {
  readonly from: number
  readonly until: number
}

export interface Told {
  readonly story: Story
  /** When the key endpoint was asked. */
  readonly requests: readonly number[]
  readonly tokens: readonly ToldToken[]
  /** Between which times a token of a key would have been accepted at once. */
  readonly trusted: Readonly<Record<KeyName, readonly Span[]>>
}

interface ToldToken {
  readonly key: KeyName
  readonly at: number
  readonly verdict: Verdict
  /** How long it waited for its verdict. */
  readonly wait: number
}

const KEYS = { A: createKey('A'), B: createKey('B') }
/** When the process starts: long enough before, and so that no keys become too old in the middle of a picture. */
const START = 1350
/** What is drawn for each process is in the middle: keys are fresh for 300 seconds. */
const middle = () => 0.5

/** What becomes of a story. The same each time. */
export function tell(story: Story): Told {
  const queue = createEventQueue()
  const endpoint = createEndpoint(queue, KEYS.A)
  const process = createProcess(queue, endpoint, middle, () => {})
  const tokens: ToldToken[] = []
  const toldAt = (time: number, run: () => void) => {
    queue.at(START + time, run)
  }
  const send = (key: KeyName, at: number) => {
    toldAt(at, () => {
      process.verify({ signer: KEYS[key], arrived: () => START + at }, (verdict) => {
        tokens.push({ key, at, verdict, wait: queue.now() - START - at })
      })
    })
  }
  const { from, until, rotatesAt, outage, interval, shownEvery = 1 } = story
  toldAt(rotatesAt, () => {
    endpoint.rotate(KEYS.B)
  })
  if (outage !== undefined) {
    toldAt(outage.from, () => {
      endpoint.setDown(true)
    })
    toldAt(outage.until, () => {
      endpoint.setDown(false)
    })
  }
  for (const at of times(interval / 2 - START, until, interval)) send('A', at)
  // Not at the moment of the tokens of A: nothing is to depend on an order.
  for (const at of times(rotatesAt + interval * 0.75, until, interval)) send('B', at)
  for (const at of times(from - 300, until, 1 / (story.forged ?? 0))) {
    toldAt(at, () => {
      process.verify({ signer: undefined, arrived: () => START + at }, () => {})
    })
  }
  const trusted = watch(process, story, toldAt)
  queue.runUntil(START + until)
  const isShown = (at: number) => at >= from && at <= until
  return {
    story,
    requests: endpoint.requests.map((at) => at - START).filter(isShown),
    tokens: (['A', 'B'] as const).flatMap((name) =>
      tokens
        .filter(({ key, at }) => key === name && isShown(at))
        .toSorted((one, other) => one.at - other.at)
        .filter((_, index) => index % shownEvery === 0),
    ),
    trusted,
  }
}

/** Looks at the process often enough for a picture. */
function watch(
  process: SimulatedProcess,
  { from, until }: Story,
  toldAt: (time: number, run: () => void) => void,
): Record<KeyName, Span[]> {
  const trusted: Record<KeyName, Span[]> = { A: [], B: [] }
  const step = (until - from) / 2000
  for (const at of times(from, until, step)) {
    toldAt(at, () => {
      for (const name of ['A', 'B'] as const) {
        if (!process.trusts(KEYS[name])) continue
        const last = trusted[name].at(-1)
        const isGoingOn = last !== undefined && at - last.until < step * 1.5
        if (isGoingOn) trusted[name].pop()
        trusted[name].push({ from: isGoingOn ? last.from : at, until: at })
      }
    })
  }
  return trusted
}

function times(from: number, until: number, interval: number): readonly number[] {
  if (!Number.isFinite(interval)) return []
  return Array.from(
    { length: Math.floor((until - from) / interval) + 1 },
    (_, index) => from + index * interval,
  )
}
