import { oneOf, type OptionCheck } from '@portcullis/kit/options'

import type { AlgorithmNames } from '../algorithms/accepted-algorithms.ts'

// What whoever configures a key source says about the entries of its document.

/** `jwt-svid` is the word of SPIFFE for keys that sign JWTs. */
export type KeyUse = 'sig' | 'jwt-svid'

export const isKeyUse: OptionCheck = oneOf('sig', 'jwt-svid')

export interface EntryRules {
  readonly algorithmNames?: AlgorithmNames | undefined
  /** The `use` that an entry must have. @default 'sig', or none */
  readonly use?: KeyUse | undefined
}
