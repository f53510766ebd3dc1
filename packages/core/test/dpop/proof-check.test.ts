import { expectTypeOf, test } from 'vitest'

import type { DpopProofs, DpopProofsMethods } from '../../src/dpop/proof-check.ts'
import type { GuardOptions } from '../../src/request/guard-options.ts'

test('the compiler takes nothing for what checks proofs but what dpopProofs returns', () => {
  expectTypeOf<DpopProofsMethods>().not.toExtend<DpopProofs>()
  expectTypeOf<object>().not.toExtend<DpopProofs>()
  expectTypeOf<{ dpop: DpopProofsMethods }>().not.toExtend<GuardOptions>()
  expectTypeOf<{ dpop: DpopProofs }>().toExtend<GuardOptions>()
  expectTypeOf<keyof DpopProofs & string>().toEqualTypeOf<'algorithms' | 'required' | 'nonce'>()
})
