import { expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import { createTestIssuer } from '../../src/issuer.ts'
import { createKeyRotation, settledOn } from '../../src/keys/key-rotation.ts'
import { createSigningKey } from '../../src/keys/signing-key.ts'
import { createBadTokenKinds } from '../../src/tokens/bad-tokens.ts'

test('the kinds are those of badTokens(), and each makes its token', async () => {
  const issuer = await createTestIssuer({ clock: manualClock(), algorithm: 'Ed25519', issuer: 'i' })
  const base = { claims: { sub: 'ada' } }
  const kinds = await issuer.badTokenKinds(base)
  const table = await issuer.badTokens(base)
  expect(await Promise.all(kinds.map(async ({ make }) => await make()))).toEqual(
    table.map(({ token }) => token),
  )
  const named = table.map(({ name, code, reason }) => ({ name, code, reason }))
  expect(kinds).toMatchObject(named)
})

test('the table costs one signature, and no kind more than one more', async () => {
  const clock = manualClock()
  const key = await createSigningKey('ES256')
  let signatures = 0
  const counting = {
    ...key,
    sign: async (...args: Parameters<typeof key.sign>) => {
      signatures += 1
      return await key.sign(...args)
    },
  }
  const keys = createKeyRotation(clock, settledOn(counting), [])
  const defaults = {
    clock,
    keys,
    issuer: 'i',
    audience: 'a',
    lifetime: 5,
    type: 't',
    maxTokenAge: 5,
  }
  const kinds = await createBadTokenKinds(defaults, counting, undefined)
  expect(signatures).toBe(1)
  for (const { make } of kinds) {
    signatures = 0
    await make()
    expect(signatures).toBeLessThanOrEqual(1)
  }
})
