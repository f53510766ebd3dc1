// What is said of an answer, and how much it matters.

/** From the worst. */
export const LEVELS = ['breach', 'problem', 'unclear', 'warning', 'note'] as const

export interface Complaint {
  /**
   * `breach`: let through what has to be refused. `unclear`: the answer says nothing about the credentials. `warning`: the right
   * decision, in a form that clients may not understand.
   */
  readonly level: (typeof LEVELS)[number]
  readonly text: string
}

/** What is said of one answer, for short. */
export type Said = readonly [level: Complaint['level'], text: string]
