// What happens when in `try`. Times are seconds since its start.

/** The order of events. */
export interface Story {
  /** How long it lasts. */
  readonly seconds: number
  /** When the token service changes to a new key. */
  readonly rotatesAt: number
  /** From when on forged tokens come, until the end. */
  readonly floodFrom: number
  /** The `kid` of the new key. */
  readonly kid: NewKid
}

export const NEW_KIDS = ['same', 'new', 'none'] as const

export type NewKid = (typeof NEW_KIDS)[number]

/** Between two genuine tokens. Seconds. */
export const INTERVAL = 0.25
/** Forged tokens in a second. */
export const FORGED = 50

export function storyOf(seconds: number, kid: NewKid): Story {
  return { seconds, rotatesAt: seconds / 3, floodFrom: (seconds * 7) / 12, kid }
}
