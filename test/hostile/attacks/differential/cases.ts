import fc from 'fast-check'

import { documentAndToken, soundDocument } from './documents.ts'
import type { Case } from './judges.ts'
import { addressed, betweenSeconds, lax, narrow, strict, typed, unlisted } from './rules.ts'
import { craftedToken, issuedToken, tamperedToken } from './tokens.ts'

const rules = fc.constantFrom(
  strict,
  strict,
  strict,
  lax,
  lax,
  addressed,
  addressed,
  typed,
  typed,
  typed,
  betweenSeconds,
  betweenSeconds,
  narrow,
  unlisted,
  unlisted,
)

/** Valid tokens and key documents, and what becomes of them when one or several things are changed. */
export const anyCase: fc.Arbitrary<Case> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ rules, document: soundDocument, token: issuedToken }) },
  { weight: 8, arbitrary: fc.record({ rules, document: soundDocument, token: tamperedToken }) },
  { weight: 9, arbitrary: fc.record({ rules, document: soundDocument, token: craftedToken }) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(rules, documentAndToken)
      .map(([each, { document, token }]) => ({ rules: each, document, token })),
  },
)
