import { describe, expect, test } from 'vitest'

import { dpopProofs } from '../../src/dpop/dpop-proofs.ts'
import type { DpopProofsOptions } from '../../src/dpop/proof-options.ts'
import { ORIGIN, requestWith } from './proof-maker.ts'
import { client, guarding, verdictOf } from './proof-verdicts.ts'

describe('the options', () => {
  test.each<[object, string]>([
    [{}, 'dpopProofs: origin must be stated'],
    [{ origin: undefined }, 'dpopProofs: origin must be stated'],
    [{ origin: [] }, 'dpopProofs: origin must not be an empty list'],
    [{ origin: ['https://a.test', 'b.test'] }, 'dpopProofs: origin is not an absolute URL'],
    [{ origin: 'https://a.test?b' }, 'dpopProofs: origin must be an http or https URL'],
    [{ origin: ORIGIN, algorithms: [] }, 'dpopProofs: algorithms must be a list'],
    [{ origin: ORIGIN, algorithms: ['HS256'] }, 'dpopProofs: algorithms: "HS256" is not supported'],
    [{ origin: ORIGIN, algorithms: ['none'] }, 'dpopProofs: algorithms: "none" is not supported'],
    [{ origin: ORIGIN, maxAge: 0 }, 'dpopProofs: maxAge must be a number of seconds from 1 to 600'],
    [{ origin: ORIGIN, clockTolerance: -1 }, 'dpopProofs: clockTolerance must be'],
    [{ origin: ORIGIN, replays: {} }, 'dpopProofs: replays must have the function remember'],
    [{ origin: ORIGIN, required: 1 }, 'dpopProofs: required must be true or false'],
    [{ origin: ORIGIN, clock: Date }, 'dpopProofs: clock must have'],
    [{ origin: ORIGIN, nonces: 's' }, 'dpopProofs: nonces must be an object with a secret'],
    [{ origin: ORIGIN, nonces: {} }, 'dpopProofs: nonces: secret must be stated'],
    [
      { origin: ORIGIN, nonces: { secret: 'short' } },
      'dpopProofs: nonces: secret must be a secret of',
    ],
    [
      { origin: ORIGIN, nonces: { secret: 's'.repeat(32), maxAge: 0 } },
      'dpopProofs: nonces: maxAge',
    ],
    [
      { origin: ORIGIN, nonces: { secrets: [] } },
      'dpopProofs: nonces: unknown option "secrets", known are secret, maxAge',
    ],
    [
      { origin: ORIGIN, url: ORIGIN },
      'dpopProofs: unknown option "url", known are origin, algorithms, maxAge, clockTolerance, replays, nonces, required, clock',
    ],
  ])('%j is refused at start-up', (options, complaint) => {
    expect(() => dpopProofs(options as DpopProofsOptions)).toThrow(TypeError)
    expect(() => dpopProofs(options as DpopProofsOptions)).toThrow(complaint)
  })

  test('name no option that dpopProofs does not have', () => {
    expect(() => dpopProofs({ origin: ORIGIN, algorithms: ['es256' as 'ES256'] })).toThrow(
      /"es256" is not supported, did you mean ES256\?$/,
    )
  })

  test('are copied: what the caller changes later counts for nothing', async () => {
    const origin = [ORIGIN]
    const algorithms: NonNullable<DpopProofsOptions['algorithms']>[number][] = ['ES256']
    const proofs = guarding({ origin, algorithms })
    origin[0] = 'https://evil.test'
    algorithms[0] = 'RS256'
    expect(await verdictOf(proofs.check(requestWith(client.proof())))).toBe('accepted')
  })

  test('show what challenges need', () => {
    expect(guarding()).toMatchObject({
      algorithms: ['ES256', 'Ed25519', 'EdDSA', 'PS256', 'RS256'],
      required: false,
    })
    expect(guarding({ required: true, algorithms: ['ES256'] })).toMatchObject({
      algorithms: ['ES256'],
      required: true,
    })
  })
})
