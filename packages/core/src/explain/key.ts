import { type Algorithm, purposesOf } from '../algorithms/algorithms.ts'
import { type LocalKeysOptions, readEntry } from '../keys/local-keys.ts'

// Explains one entry of a key document, without any token.

/** Whether a verifier can use one entry of a key document. */
export interface KeyExplanation {
  /** RFC 7638. `undefined` if the entry cannot be used. */
  readonly thumbprint: string | undefined
  /** What it verifies where a verifier states no `algorithms`: none if it cannot be used. */
  readonly algorithms: readonly Algorithm[]
  /** What a verifier can state in `algorithms` to have it verify that. */
  readonly listable: readonly Algorithm[]
  /** Why it cannot be used, in words; `undefined` if it can. */
  readonly unusable: string | undefined
}

/**
 * Says whether a verifier can use one entry of a key document, such as a member of the `keys` of a set, and why not. It is for
 * people who look at a document. For a source in use, `keys.status()` lists the entries that are skipped.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function explainKey(entry: unknown, options: LocalKeysOptions = {}): KeyExplanation {
  const key = readEntry('explainKey', entry, options)
  return typeof key === 'string'
    ? { thumbprint: undefined, algorithms: [], listable: [], unusable: key }
    : {
        thumbprint: key.thumbprint,
        algorithms: purposesOf(key, undefined),
        listable: [...key.prepared.keys()],
        unusable: undefined,
      }
}
