import { expect, test, vi } from 'vitest'

import type { Auth } from '../../src/claims/auth.ts'
import { setInternals } from '../../src/verifier/internals.ts'
import { watchInTurn } from '../../src/verifier/revocation-watch.ts'

const auth: Auth = { claims: {}, header: { alg: 'RS512' }, token: 'a.b.c' }

/** A verifier that notes what happens to its watches. */
function noting(name: string, notes: string[]) {
  const verify = vi.fn<() => void>()
  setInternals(verify, {
    checksIssuer: () => false,
    audiences: [],
    maxTokenSize: 1,
    recall: () => undefined,
    watch() {
      notes.push(`${name} begins`)
      return {
        renew: () => void notes.push(`${name} is renewed`),
        end: () => void notes.push(`${name} ends`),
      }
    },
  })
  return { verify }
}

test('the watch of a token follows the verifier that judges it now', () => {
  const notes: string[] = []
  const [first, second] = [noting('first', notes), noting('second', notes)]
  let found: typeof first | undefined = first
  const watch = watchInTurn(
    () => found,
    auth,
    () => {},
  )
  watch.renew()
  expect(notes.splice(0)).toEqual(['first begins', 'first is renewed'])
  found = second
  watch.renew()
  expect(notes.splice(0)).toEqual(['first ends', 'second begins'])
  found = undefined
  watch.renew()
  watch.renew()
  expect(notes.splice(0)).toEqual(['second ends'])
  found = first
  watch.renew()
  watch.end()
  expect(notes.splice(0)).toEqual(['first begins', 'first ends'])
})
