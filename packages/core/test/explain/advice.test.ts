import { describe, expect, test } from 'vitest'

import { ADVICE, type Advice } from '../../src/explain/advice-table.ts'
import { adviceOn } from '../../src/explain/advice.ts'
import type { Hint } from '../../src/explain/hints.ts'
import { AuthError } from '../../src/index.ts'

const signature = new AuthError('invalid_token', 'signature')
const hint = (name: Hint['name']) => ({ name, text: '' })

/** What it means is for ERRORS.md alone. */
const adviceIn = ({ client, operator }: Advice): Advice => ({ client, operator })

describe('what to do', () => {
  test('is nothing about a token that is accepted', () => {
    expect(adviceOn({ refusal: undefined, hints: [hint('milliseconds')] })).toBeUndefined()
  })

  test('is what the table says of the reason, also where another code has a reason of that name', () => {
    const timeout = new AuthError('keys_unavailable', 'unreachable')
    const replay = new AuthError('replay_unavailable', 'unreachable')
    expect(adviceOn({ refusal: timeout, hints: [] })).toEqual(
      adviceIn(ADVICE.keys_unavailable.unreachable),
    )
    expect(adviceOn({ refusal: replay, hints: [] })).toEqual(
      adviceIn(ADVICE.replay_unavailable.unreachable),
    )
  })

  test.each<[Hint['name'], RegExp]>([
    ['previous_key', /^log in again, once$/],
    ['other_keys', /^log in at the token service of this environment$/],
    ['algorithm_not_listed', /^wait until the API accepts the algorithm$/],
  ])('is more exact with the hint %s, whatever hint is before it', (name, client) => {
    const hints = [hint('unusable_keys'), hint(name)]
    expect(adviceOn({ refusal: signature, hints })?.client).toMatch(client)
  })

  test('follows "If you run the API:", so it begins neither with a condition nor with nothing and a condition', () => {
    const said = Object.values(ADVICE).flatMap((reasons) =>
      Object.values<{ operator: string }>(reasons).map(({ operator }) => operator),
    )
    expect(said.filter((text) => /^(?:If|Nothing\b.+)/.test(text))).toEqual([])
  })

  test('is that of the reason with any other hint', () => {
    const advice = adviceOn({ refusal: signature, hints: [hint('unusable_keys')] })
    expect(advice).toEqual(adviceIn(ADVICE.invalid_token.signature))
  })
})
