// Counts the verdicts that wait to be reported, without keeping more than one report can hold.

interface TalliedVerdict {
  /** Of the refusal; `undefined` if the token was accepted. */
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly detail: string | undefined
  readonly remembered: boolean
  readonly count: number
  /** The longest of them. Seconds. */
  readonly duration: number | undefined
}

export interface VerdictReport {
  readonly verdicts: readonly TalliedVerdict[]
  /** How many there was no room for, or could not be sent. */
  readonly dropped: number | undefined
}

/** Verdicts that wait to be reported. Those that are alike are counted. */
export interface VerdictTally {
  add(message: unknown): void
  /** What waits; `undefined` if nothing does. */
  take(): VerdictReport | undefined
  /** What was dropped waits for the next verdict. */
  isEmpty(): boolean
  /** Counts a report that could not be sent as dropped. */
  lose(report: VerdictReport): void
}

// So that a report fits the 64 KiB that `serve` reads.
const MAX_DIFFERENT = 50
/** Characters: `detail` is a sentence, which has no token. */
const MAX_DETAIL = 300
const MAX_WORD = 64

export function createVerdictTally(): VerdictTally {
  let waiting = new Map<string, TalliedVerdict>()
  let dropped = 0

  return {
    add(message) {
      const verdict = verdictIn(message)
      const { code, reason, detail, remembered } = verdict
      const key = JSON.stringify([code, reason, detail, remembered])
      const before = waiting.get(key)
      if (before !== undefined) {
        const duration = Math.max(before.duration ?? 0, verdict.duration ?? 0)
        waiting.set(key, { ...verdict, count: before.count + 1, duration })
      } else if (waiting.size < MAX_DIFFERENT) waiting.set(key, verdict)
      else dropped += 1
    },
    take() {
      if (waiting.size === 0 && dropped === 0) return undefined
      const report = {
        verdicts: [...waiting.values()],
        dropped: dropped === 0 ? undefined : dropped,
      }
      waiting = new Map()
      dropped = 0
      return report
    },
    isEmpty: () => waiting.size === 0,
    lose({ verdicts, dropped: more = 0 }) {
      dropped += more + verdicts.reduce((sum, { count }) => sum + count, 0)
    },
  }
}

/** Read without trust: anybody in the process can publish on the channel, and an error here would end the process. */
function verdictIn(message: unknown): TalliedVerdict {
  const member = (name: string): unknown =>
    typeof message === 'object' && message !== null ? Reflect.get(message, name) : undefined
  const text = (name: string, max: number) => {
    const value = member(name)
    return typeof value === 'string' && value !== '' ? value.slice(0, max) : undefined
  }
  const duration = member('duration')
  return {
    code: text('code', MAX_WORD),
    reason: text('reason', MAX_WORD),
    detail: text('detail', MAX_DETAIL),
    remembered: member('remembered') === true,
    count: 1,
    duration: typeof duration === 'number' && duration >= 0 ? duration : undefined,
  }
}
