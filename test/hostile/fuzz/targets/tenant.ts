import fc from 'fast-check'

import {
  checkClaims,
  type ClaimRules,
  couldBeAccepted,
} from '../../../../packages/core/src/claims/claims.ts'
import { isKeyForTenant, tenantRuleOf } from '../../../../packages/core/src/claims/tenants.ts'
import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { anyCharacter, jsonText, mostly, nearlyAll, octetsOf } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600
const LOGIN = 'https://login.example'
const TENANT = '11111111-2222-3333-4444-555555555555'
const OTHER = '99999999-2222-3333-4444-aaaaaaaaaaaa'
const EXCEPTION = '9188040d-6c67-4c5b-b112-36a304b66dad'
const ISSUERS =
  /^https:\/\/login\.example\/([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})\/v2\.0$/

const tenants = tenantRuleOf({
  template: `${LOGIN}/{tenantid}/v2.0`,
  claim: 'tid',
  tenants: 'any',
  except: [EXCEPTION],
})
const RULES = {
  isAccessToken: true,
  issuer: tenants,
  audience: null,
  clockTolerance: 5,
  requireExpiry: true,
  maxTokenAge: undefined,
  requiredClaims: [],
} satisfies ClaimRules

/** What may stand where the id of a tenant does. */
const id = mostly(
  fc.constantFrom(TENANT, TENANT, OTHER, EXCEPTION),
  fc.oneof(
    fc.constantFrom('{tenantid}', '', '$&', '$1', '..', OTHER.toUpperCase(), `${TENANT}\n`),
    fc.constantFrom(`${TENANT}/..`, `${TENANT}%2f`, `${TENANT}?`, 'common', '__proto__'),
    fc.string({ unit: anyCharacter, maxLength: 40 }),
  ),
)
const issuer = fc
  .tuple(mostly(fc.constant(LOGIN), fc.constantFrom('https://login.example.us', '')), id)
  .map(([login, tenant]) => `${login}/${tenant}/v2.0`)

/** The `issuer` of an entry of a key document on the first line, and behind it a payload that its key has signed. */
export const tenant: FuzzTarget = {
  inputs: fc
    .tuple(
      mostly(fc.constant(`${LOGIN}/{tenantid}/v2.0`), issuer),
      jsonText(nearlyAll({ iss: issuer, tid: id, exp: fc.constant(NOW + 60) })),
    )
    .map((parts) => parts.join('\n')),
  run(input) {
    const [keyIssuer = ''] = input.split('\n', 1)
    const payload = octetsOf(input.slice(keyIssuer.length + 1))
    const accepted = read(payload)
    hold(couldBeAccepted(payload, RULES, NOW) === (accepted !== undefined), 'two answers are one')
    if (accepted === undefined) return
    const { iss, ['tid']: tid } = accepted
    const [, named] = ISSUERS.exec(String(iss)) ?? []
    hold(typeof iss === 'string' && named !== undefined && named === tid, 'iss and tid agree')
    hold(named !== EXCEPTION, 'no exception is accepted')
    // As the provider describes it: the id is put in, and the two texts are one.
    const filled = keyIssuer.replace('{tenantid}', () => named)
    hold(isKeyForTenant(keyIssuer, accepted, tenants) === (filled === iss), 'so does the key')
    hold(!isKeyForTenant(undefined, accepted, tenants), 'a key without an issuer is for nobody')
  },
}

function read(payload: Buffer): ReturnType<typeof checkClaims> | undefined {
  try {
    return checkClaims(payload, RULES, NOW)
  } catch (error) {
    if (error instanceof AuthError && error.code === 'invalid_token') return undefined
    throw error
  }
}
