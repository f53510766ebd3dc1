import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'

import {
  checkClaims,
  type ClaimRules,
  couldBeAccepted,
} from '../../../../packages/core/src/claims/claims.ts'
import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { jsonObject, jsonText, octetsOf, parseJson } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600
const RULES = {
  isAccessToken: true,
  issuer: ['https://issuer.example'],
  audience: ['https://api.example', 'api'],
  clockTolerance: 5,
  requireExpiry: true,
  maxTokenAge: 3600,
  requiredClaims: [{ name: 'sub', values: 'any' }],
} satisfies ClaimRules

/** An audience that may be missing, and must fit where it stands; and none at all. */
const ADDRESSED: ClaimRules = { ...RULES, audience: [...RULES.audience, null] }
const FOR_ANYBODY: ClaimRules = { ...RULES, audience: null }

const time = fc.integer({ min: NOW - 4000, max: NOW + 100 })

/** A payload. Forged ones are read as well, to tell whether they may ask for new keys. */
export const claims: FuzzTarget = {
  inputs: jsonText(
    jsonObject({
      iss: fc.constantFrom(...RULES.issuer, 'https://other.example'),
      aud: fc.oneof(
        fc.constantFrom(...RULES.audience),
        fc.array(fc.constantFrom('api', 'b', '', null)),
        fc.constantFrom('', [], null),
      ),
      sub: fc.string(),
      exp: fc.oneof(
        fc.integer({ min: NOW - 10, max: NOW + 100 }),
        fc.constantFrom(NOW * 1000, 1e12 - 1, 1e12),
        fc.double(),
      ),
      nbf: time,
      iat: time,
    }),
  ),
  run(input) {
    const payload = octetsOf(input)
    const accepted = read(payload)
    checkAddressed(payload, accepted !== undefined)
    hold(couldBeAccepted(payload, RULES, NOW) === (accepted !== undefined), 'two answers are one')
    if (accepted === undefined) return
    hold(isDeepStrictEqual(accepted, parseJson(payload.toString())), 'the claims are as signed')
    hold(Buffer.from(payload.toString()).equals(payload), 'the claims are UTF-8')
    hold(isFrozen(accepted), 'the claims are frozen to the last level')
    const { exp = NaN, nbf = 0, iat = NaN, iss, aud } = accepted
    hold(NOW < exp + 5 && nbf <= NOW + 5, 'the token is valid now')
    hold(exp < 1e12, 'its expiry is in seconds')
    hold(iat <= NOW + 60 && NOW - iat <= 3605, 'the token is as young as it has to be')
    hold(iss === 'https://issuer.example', 'the issuer is the one')
    hold(
      [aud].flat().some((each) => RULES.audience.includes(String(each))),
      'this is the audience',
    )
    hold(Object.hasOwn(accepted, 'sub'), 'the required claim is there')
  },
}

/** `null` in the list lets in what names nobody, and nothing else. */
function checkAddressed(payload: Buffer, isAccepted: boolean): void {
  const addressed = read(payload, ADDRESSED)
  const anybody = read(payload, FOR_ANYBODY)
  hold(couldBeAccepted(payload, ADDRESSED, NOW) === (addressed !== undefined), 'also with null')
  if (addressed === undefined) {
    hold(!isAccepted, 'what names this audience is accepted with null as well')
    const names = anybody !== undefined && [anybody.aud].flat().length > 0
    hold(anybody === undefined || (names && anybody.aud !== undefined), 'it names somebody')
    return
  }
  hold(anybody !== undefined, 'what is accepted with null is accepted for anybody')
  const isMissing = !Object.hasOwn(addressed, 'aud') || isDeepStrictEqual(addressed.aud, [])
  hold(isAccepted !== isMissing, 'it names this audience, or nobody')
}

function read(
  payload: Buffer,
  rules: ClaimRules = RULES,
): ReturnType<typeof checkClaims> | undefined {
  try {
    return checkClaims(payload, rules, NOW)
  } catch (error) {
    if (error instanceof AuthError && error.code === 'invalid_token') return undefined
    throw error
  }
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isFrozen)
}
