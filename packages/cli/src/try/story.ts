// What happens when in `try`. Times are seconds since its start.

export interface Story {
  readonly seconds: number
  readonly rotatesAt: number
  /** Forged tokens come from then on, until the end. */
  readonly floodFrom: number
  readonly kid: NewKid
}

export const NEW_KIDS = ['same', 'new', 'none'] as const

export type NewKid = (typeof NEW_KIDS)[number]

/** Between two genuine tokens. Seconds. */
export const INTERVAL = 0.25
export const FORGED = 50

export function storyOf(seconds: number, kid: NewKid): Story {
  return { seconds, rotatesAt: seconds / 3, floodFrom: (seconds * 7) / 12, kid }
}
