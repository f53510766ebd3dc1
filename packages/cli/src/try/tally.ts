// Counts what the two guards of `try` answer. It keeps numbers alone, as many of them for a long run as for a short one.

export const GUARDS = ['portcullis', 'jose'] as const

export type Guard = (typeof GUARDS)[number]

/** What a call was made with: a token of the old key, of the new one, or one that nobody should accept. */
export type Kind = 'old' | 'new' | 'forged'

/** Of genuine tokens: none came, all were accepted, or one was refused. */
export type Moment = 'none' | 'accepted' | 'refused'

/** One call of the API. Times are seconds. */
interface Call {
  readonly kind: Kind
  /** When it was sent, since the start. */
  readonly at: number
  readonly status: number
  readonly took: number
}

export type Tally = ReturnType<typeof createTally>

export type Answers = Omit<ReturnType<typeof emptyCounts>, 'firstAt'>

/** Parts of the time that a course has, at most: one of a second, or longer. */
const MOST_PARTS = 60

export function createTally(seconds: number) {
  const parts = Math.max(1, Math.min(MOST_PARTS, Math.floor(seconds)))
  let isFlood = false
  const counts = { portcullis: emptyCounts(parts), jose: emptyCounts(parts) }
  return {
    answered(guard: Guard, { kind, at, status, took }: Call): void {
      const count = counts[guard]
      const isAccepted = status === 200
      if (kind === 'forged') {
        count[isAccepted ? 'forgedAccepted' : 'forgedRefused']++
        return
      }
      count[isAccepted ? 'accepted' : 'refused']++
      const part = Math.min(parts - 1, Math.floor((at / seconds) * parts))
      if (count.course[part] !== 'refused') count.course[part] = isAccepted ? 'accepted' : 'refused'
      // Answers may come in another order than calls.
      if (kind !== 'new' || at >= count.firstAt) return
      count.firstAt = at
      count.firstOfNewKey = { status, seconds: took }
    },
    /** From now on, requests for keys are those of the flood as well. */
    floodBegins(): void {
      isFlood = true
    },
    keysAsked(guard: Guard): void {
      counts[guard].keyRequests++
      if (isFlood) counts[guard].keyRequestsInFlood++
    },
    of(guard: Guard): Answers {
      const { firstAt: _, course, ...answers } = counts[guard]
      return { ...answers, course: [...course] }
    },
  }
}

function emptyCounts(parts: number) {
  return {
    /** Of genuine tokens. */
    accepted: 0,
    refused: 0,
    /** The answer to the first token of the new key, and how long it took; `undefined` before. */
    firstOfNewKey: undefined as { status: number; seconds: number } | undefined,
    firstAt: Infinity,
    forgedRefused: 0,
    forgedAccepted: 0,
    keyRequests: 0,
    keyRequestsInFlood: 0,
    /** What became of genuine tokens, in equal parts of the time. */
    course: Array.from({ length: parts }, (): Moment => 'none'),
  }
}
