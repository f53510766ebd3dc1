import { doubled, drawn } from '@portcullis/kit/pace'

// How often a replica asks, how long it waits for an answer, and how long it pauses after a failure. Times are seconds.

/**
 * So that a lost connection is replaced within `maxStaleness`. A page of the whole stream may take longer: the replica has nothing to lose
 * then, and a fleet that reads it at once would begin again and again.
 */
export function pacing(maxStaleness: number): {
  readonly heartbeat: number
  readonly answer: number
  readonly page: number
} {
  return { heartbeat: maxStaleness / 4, answer: maxStaleness / 4, page: maxStaleness }
}

/**
 * Sentinels are asked within the deadline of an answer of the store, which begins before it is known where that is. Without an answer of
 * one for `maxStaleness`, a connection to the primary is worth nothing.
 */
export function sentinelPacing(
  maxStaleness: number,
  answer: number,
): { readonly interval: number; readonly patience: number; readonly longestSilence: number } {
  return { interval: maxStaleness / 4, patience: answer / 2, longestSilence: maxStaleness }
}

const FIRST_PAUSE = 0.1
const LONGEST_PAUSE = 5

/** Drawn so that a fleet does not come back in step. @param failures In a row. @param random From 0 to 1. */
export function pauseAfter(failures: number, maxStaleness: number, random: number): number {
  const longest = Math.min(LONGEST_PAUSE, maxStaleness / 4)
  const pause = doubled(FIRST_PAUSE, failures - 1, longest)
  return spread(pause, random)
}

/**
 * After it failed to write back: a failure that lasts, such as a right that is missing, must not have the whole stream read for more than a
 * tenth of the time.
 *
 * @param took The last attempt.
 */
export function pauseAfterWriting(
  failures: number,
  took: number,
  maxStaleness: number,
  random: number,
): number {
  const usual = Math.min(LONGEST_PAUSE, maxStaleness / 4)
  const longest = Math.max(usual, Math.min(LONGEST_FULL_PAUSE, 10 * took))
  return spread(doubled(FIRST_PAUSE, failures - 1, longest), random)
}

const FULL_PAUSE = 60
const LONGEST_FULL_PAUSE = 3600

/**
 * How long a stream with too many entries is left alone. To read it as a whole takes a tenth of the time while entries are deleted, and a
 * hundredth while only their time can have passed. @param took The last reading. @param random From 0 to 1.
 */
export function restWhenFull(
  took: number,
  random: number,
): { readonly soonest: number; readonly longest: number } {
  const pause = (seconds: number) =>
    spread(Math.min(LONGEST_FULL_PAUSE, Math.max(FULL_PAUSE, seconds)), random)
  return { soonest: pause(10 * took), longest: pause(100 * took) }
}

const LONGEST_FIRST = 30

/**
 * Before a process writes back what a stream lacks: by then sentinels agree who the primary is, and others may have written it. Before
 * each page the same in small. Where one has written to a former primary all the same, it does so again once it reads the new one.
 *
 * @param random From 0 to 1.
 */
export function writeBackPauses(
  maxStaleness: number,
  random: number,
): { readonly first: number; readonly page: number } {
  return {
    first: spread(Math.min(LONGEST_FIRST, maxStaleness / 2), random),
    page: spread(0.1, random),
  }
}

/** How long it takes at most until a process whose connection works has noticed a loss, and begins to write back. Rounded up. */
export function longestUntilWriteBack(maxStaleness: number): number {
  return Math.ceil(pacing(maxStaleness).heartbeat + writeBackPauses(maxStaleness, 1).first)
}

/** Wider than after a failure of HTTP: a fleet that has lost its store loses it at the same moment. */
function spread(seconds: number, random: number): number {
  return drawn(seconds, 0.5, 1, random)
}
