import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { dpopProofs } from '../../src/dpop/dpop-proofs.ts'
import { proofMethods } from '../../src/dpop/proof-check.ts'
import { AuthError } from '../../src/refusal/errors.ts'

// The examples of RFC 9449, as they are printed there.

const HEADER =
  'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19'

/** Figure 2: for the token endpoint, so without `ath`. */
const TOKEN_REQUEST = `${HEADER}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg`

/** Figure 13: for a protected resource. */
const RESOURCE_REQUEST = `${HEADER}.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA`

const REQUEST = {
  proof: RESOURCE_REQUEST,
  method: 'GET',
  target: '/protectedresource',
  token: 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU',
}

/** Figures 7 to 9: the `jkt` of the token that is bound to this key. */
const JKT = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'
const ISSUED = 1_562_262_618

function proofs(origin = 'https://resource.example.org', now = ISSUED) {
  return proofMethods(dpopProofs({ origin, clock: manualClock(now) }))
}

async function reasonOf(checked: Promise<unknown>): Promise<string> {
  try {
    await checked
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return error.reason
    throw error
  }
}

test('the proof of figure 13 is accepted, and made with the key of figure 9', async () => {
  await expect(proofs().check(REQUEST)).resolves.toMatchObject({ jkt: JKT, expires: ISSUED + 65 })
})

test.each([
  ['with another method', { ...REQUEST, method: 'POST' }, 'proof_method'],
  ['with another path', { ...REQUEST, target: '/' }, 'proof_url'],
  ['with another token', { ...REQUEST, token: `${REQUEST.token}A` }, 'proof_token'],
])('the proof of figure 13 is refused %s', async (_, request, reason) => {
  expect(await reasonOf(proofs().check(request))).toBe(reason)
})

test('the proof of figure 13 is refused in another year', async () => {
  expect(await reasonOf(proofs(undefined, ISSUED + 31_536_000).check(REQUEST))).toBe('proof_time')
})

test('the proof of figure 2 is sound, and for no access token', async () => {
  const request = { ...REQUEST, proof: TOKEN_REQUEST, method: 'POST', target: '/token' }
  const check = proofs('https://server.example.com', ISSUED - 2).check(request)
  expect(await reasonOf(check)).toBe('proof_token')
})

test('the proof of figure 13 lacks the nonce that is wanted, which has the characters of section 8.1', async () => {
  const guard = dpopProofs({
    origin: 'https://resource.example.org',
    clock: manualClock(ISSUED),
    nonces: { secret: 's'.repeat(32) },
  })
  expect(await reasonOf(proofMethods(guard).check(REQUEST))).toBe('missing_nonce')
  expect(guard.nonce()).toMatch(/^[!#-[\]-~]+$/)
})
