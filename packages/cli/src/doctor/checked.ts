// The type that all checks of `doctor` answer with.

/** What came of one check of a folder. */
export interface Checked {
  readonly name: string
  /** A `problem` should be mended; a `note` is worth knowing. */
  readonly outcome: 'ok' | 'problem' | 'note' | 'skipped'
  readonly text: string
}
