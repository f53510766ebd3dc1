// The levels of what a probe can find.

/** What is wrong, or worth knowing, about one answer. */
export interface Complaint {
  /**
   * `breach`: let through what has to be refused. `unclear`: the answer says nothing about the credentials. `warning`: the right
   * decision, in a form that clients may not understand.
   */
  readonly level: 'breach' | 'problem' | 'unclear' | 'warning' | 'note'
  readonly text: string
}

export function breach(text: string): Complaint {
  return { level: 'breach', text }
}

export function warning(text: string): Complaint {
  return { level: 'warning', text }
}

export function problem(text: string): Complaint {
  return { level: 'problem', text }
}

export function note(text: string): Complaint {
  return { level: 'note', text }
}

export function unclear(text: string): Complaint {
  return { level: 'unclear', text }
}
