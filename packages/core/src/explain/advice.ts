import { checkArgument, own } from '@portcullis/kit/options'

import { ADVICE, type Advice } from './advice-table.ts'
import type { Explanation } from './finding.ts'
import type { Hint } from './hints.ts'

// What to do about a token that was explained. Where a hint says more than the reason of the refusal, it gives the better advice.

/**
 * What to do about the refusal of a token that was explained. Hints say more than the reason alone.
 *
 * @returns `undefined` for a token that is accepted.
 */
export function adviceOn(explanation: Pick<Explanation, 'refusal' | 'hints'>): Advice | undefined {
  const isMade = Array.isArray(Reflect.get(Object(explanation), 'hints'))
  checkArgument('adviceOn', 'the argument', isMade ? undefined : 'must be what explain() returned')
  const { refusal, hints } = explanation
  if (refusal === undefined) return undefined
  for (const { name } of hints) {
    const advice = ON_HINTS[name]
    if (advice !== undefined) return advice
  }
  const ofCode: Readonly<Record<string, Advice>> = ADVICE[refusal.code]
  const advice = own(ofCode, refusal.reason)
  return advice && { client: advice.client, operator: advice.operator }
}

const ON_HINTS: Readonly<Partial<Record<Hint['name'], Advice>>> = {
  previous_key: { client: 'log in again, once', operator: 'Nothing' },
  other_keys: {
    client: 'log in at the token service of this environment',
    operator: 'Nothing',
  },
  algorithm_not_listed: {
    client: 'wait until the API accepts the algorithm',
    operator:
      'State that algorithm if your issuer signs so: in the option `algorithms` of the verifier, or with `--algorithm`',
  },
}
