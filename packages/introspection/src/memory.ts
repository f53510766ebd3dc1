import type { ProvenToken } from '@portcullis/core/verifier'
import { sha256 } from '@portcullis/kit/digest'
import { noOptions } from '@portcullis/kit/options'
import type { Instant } from '@portcullis/kit/time'
import { LRUCache } from 'lru-cache'

import type { AnswerTimes, FailingToken, NamedToken } from './decisions.ts'

// What the issuer has said, remembered for a bounded number of tokens and of bytes. How long it may be used is decided elsewhere.

export interface HeldAnswer extends ProvenToken, AnswerTimes {
  readonly size: number
}

export interface AnswerMemory {
  find(token: string): HeldAnswer | undefined
  /** When a token was said to be not active. */
  findInactive(name: string): Instant | undefined
  findFailing(name: string): FailingToken | undefined
  /** The token with the newest answer whose own last call did not fail. @param isFree Leaves out those that are asked about now. */
  newest(now: number, isFree: (name: string) => boolean): NamedToken | undefined
  remember(token: string, name: string, answer: HeldAnswer): void
  /** Forgets what was held of the token. */
  rememberInactive(token: string, name: string, askedAt: Instant): void
  rememberFailing(name: string, failing: FailingToken): void
}

/** Octets of an answer and its token. */
const MEAN_SIZE = 2048
/** However few answers are held, one of them may be as long as any. */
const SMALLEST_ROOM = 4 * 65_536
/** Characters of tokens that could be asked about for others: one of them is enough. */
const GOOD_ROOM = 1_048_576
/** An object for each claim, and what refers to it: as measured, an answer takes about four times its octets. */
const WEIGHT = 4

/**
 * Three memories: tokens that are not active, and those whose calls fail, have their own, so that invented ones push out no genuine one.
 * Of these only the digest is kept: whoever invents tokens makes them as long as they may be.
 */
export function createMemory(max: number): AnswerMemory {
  const held = new LRUCache<string, HeldAnswer>({
    max,
    maxSize: Math.max(max * MEAN_SIZE, SMALLEST_ROOM) * WEIGHT,
    sizeCalculation: ({ size }, token) => size * WEIGHT + token.length,
  })
  const inactive = new LRUCache<string, Instant>({ max })
  const failing = new LRUCache<string, FailingToken>({ max })
  /** Tokens whose last call has said that they are active, the newest answer first. Some of them may be held no longer. */
  const good = new LRUCache<string, string>({
    max,
    maxSize: GOOD_ROOM,
    sizeCalculation: ({ length }) => length + 1,
  })
  return {
    find: (token) => held.get(token, noOptions()),
    findInactive: (name) => inactive.get(name, noOptions()),
    findFailing: (name) => failing.get(name, noOptions()),
    newest(now, isFree) {
      for (const [name, token] of good.entries()) {
        const { exp = Infinity } = held.peek(token) ?? { exp: -Infinity }
        if (exp <= now) good.delete(name)
        else if (isFree(name)) return { name, token }
      }
      return undefined
    },
    remember(token, name, answer) {
      inactive.delete(name)
      failing.delete(name)
      good.set(name, token, noOptions())
      held.set(token, answer, noOptions())
    },
    rememberInactive(token, name, askedAt) {
      held.delete(token)
      failing.delete(name)
      good.delete(name)
      inactive.set(name, askedAt, noOptions())
    },
    rememberFailing(name, bad) {
      good.delete(name)
      failing.set(name, bad, noOptions())
    },
  }
}

/** What a token is called where its text is not to be kept. */
export function nameOf(token: string): string {
  return sha256(token)
}
