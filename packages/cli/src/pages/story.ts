// What the log says of one event, whatever kind it is.

/** An event for people: a line, and what it means. */
export interface EventStory {
  readonly what: string
  /** Who did it, or with which key. */
  readonly who: string | undefined
  /** How it ended, in a word. */
  readonly result: string
  readonly tone: 'good' | 'refused' | 'failed' | 'change'
  readonly sentences: readonly string[]
}
