import { describe, expect, test } from 'vitest'

import {
  checkIssuerTemplate,
  checkTenant,
  isIssuerOfTenant,
  isKeyForTenant,
  type IssuerTemplate,
  tenantRuleOf,
} from '../../src/claims/tenants.ts'
import { AuthError } from '../../src/refusal/errors.ts'

const A = '11111111-2222-3333-4444-555555555555'
const B = '99999999-2222-3333-4444-aaaaaaaaaaaa'
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'
const TEMPLATE = 'https://id.example/{tenantid}/v2.0'
const FIRST = 'https://sts.example/{tenantid}/'

const any: IssuerTemplate = {
  template: TEMPLATE,
  claim: 'tid',
  tenants: 'any',
  except: [CONSUMERS],
}
const listed: IssuerTemplate = { template: TEMPLATE, claim: 'tid', tenants: [A, CONSUMERS] }
const first: IssuerTemplate = { ...any, template: FIRST, keyTemplate: TEMPLATE }

const issuerOf = (tenant: unknown, template = TEMPLATE) =>
  template.split('{tenantid}').join(String(tenant))

function verdictOf(claims: object, issuer: IssuerTemplate): string {
  try {
    checkTenant({ ...claims }, tenantRuleOf(issuer))
    return 'accepted'
  } catch (error) {
    if (error instanceof AuthError) return error.detail
    throw error
  }
}

const accepts = (claims: object, issuer = any) => verdictOf(claims, issuer) === 'accepted'

describe('a token and its tenant', () => {
  test.each<[string, object, IssuerTemplate, boolean]>([
    ['a tenant, where any is accepted', { iss: issuerOf(A), tid: A }, any, true],
    ['another one as well', { iss: issuerOf(B), tid: B }, any, true],
    ['the issuer of one and the id of another', { iss: issuerOf(A), tid: B }, any, false],
    ['no id', { iss: issuerOf(A) }, any, false],
    ['no issuer', { tid: A }, any, false],
    ['an exception', { iss: issuerOf(CONSUMERS), tid: CONSUMERS }, any, false],
    ['a tenant that is listed', { iss: issuerOf(A), tid: A }, listed, true],
    ['one that is not', { iss: issuerOf(B), tid: B }, listed, false],
    [
      'an exception elsewhere that is listed',
      { iss: issuerOf(CONSUMERS), tid: CONSUMERS },
      listed,
      true,
    ],
    ['the other template', { iss: issuerOf(A, FIRST), tid: A }, first, true],
    ['the template of keys in place of that of tokens', { iss: issuerOf(A), tid: A }, first, false],
    ['the other template where it is not stated', { iss: issuerOf(A, FIRST), tid: A }, any, false],
    ['the template itself', { iss: TEMPLATE, tid: '{tenantid}' }, any, false],
    ['a list that has the issuer', { iss: [issuerOf(A)], tid: A }, any, false],
    ['the issuer and more', { iss: `${issuerOf(A)}/`, tid: A }, any, false],
    [
      'the issuer behind something',
      { iss: `https://evil.example/?${issuerOf(A)}`, tid: A },
      any,
      false,
    ],
    [
      'an inherited id',
      Object.create({ tid: A }, { iss: { value: issuerOf(A), enumerable: true } }) as object,
      any,
      false,
    ],
  ])('%s', (_, claims, issuer, isAccepted) => {
    expect(accepts(claims, issuer)).toBe(isAccepted)
  })

  // Each has the `iss` that fits it, so that its form alone decides.
  test.each<[string, unknown]>([
    ['in upper case', B.toUpperCase()],
    ['the place of the template', '{tenantid}'],
    ['with a slash', `${A}/..`],
    ['of a path', `${A.slice(0, -3)}/..`],
    ['with a percent sign', `${A.slice(0, -3)}%2f`],
    ['empty', ''],
    ['a number', 7],
    ['a list', [A]],
    ['null', null],
    ['with a line break', `${A}\n`],
    ['in braces', `{${A}}`],
    ['behind something', `x${A}`],
    ['without hyphens', A.replaceAll('-', '')],
    ['a domain', 'contoso.onmicrosoft.com'],
    ['common', 'common'],
    ['a dollar pattern', '$&'],
    ['digits of another script', A.replaceAll('1', '\u0661')],
  ])('an id %s is refused', (_, tid) => {
    expect(accepts({ iss: issuerOf(tid), tid })).toBe(false)
    expect(accepts({ iss: issuerOf(A), tid })).toBe(false)
    expect(isIssuerOfTenant(issuerOf(JSON.stringify(tid)), tenantRuleOf(any))).toBe(false)
  })

  test.each([
    [
      { iss: issuerOf(A), tid: B },
      any,
      `iss is "${issuerOf(A)}" and tid is "${B}"; expected "${TEMPLATE}" with the tid of the token, a UUID in lower case`,
    ],
    [
      { iss: issuerOf(A) },
      any,
      `iss is "${issuerOf(A)}" and tid is missing; expected "${TEMPLATE}" with the tid of the token, a UUID in lower case`,
    ],
    [{ iss: issuerOf(B), tid: B }, listed, `tid is "${B}"; expected one of "${A}", "${CONSUMERS}"`],
    [
      { iss: issuerOf(CONSUMERS), tid: CONSUMERS },
      any,
      `tid is "${CONSUMERS}"; that tenant is refused unless it is listed`,
    ],
  ])('says what it found and expected: %o', (claims, issuer, detail) => {
    expect(verdictOf(claims, issuer)).toBe(detail)
  })
})

describe('a key and the tenant of a token', () => {
  test.each<[string, string | undefined, object, IssuerTemplate, boolean]>([
    ['a key for all tenants', TEMPLATE, { iss: issuerOf(A), tid: A }, any, true],
    ['a key for this tenant', issuerOf(A), { iss: issuerOf(A), tid: A }, any, true],
    ['a key for another tenant', issuerOf(CONSUMERS), { iss: issuerOf(A), tid: A }, any, false],
    ['a key without an issuer', undefined, { iss: issuerOf(A), tid: A }, any, false],
    ['an empty issuer', '', { iss: issuerOf(A), tid: A }, any, false],
    [
      'a key of another cloud',
      'https://id.example.us/{tenantid}/v2.0',
      { iss: issuerOf(A), tid: A },
      any,
      false,
    ],
    [
      'the place in other letters',
      TEMPLATE.replace('id}', 'Id}'),
      { iss: issuerOf(A), tid: A },
      any,
      false,
    ],
    ['the place twice', `${TEMPLATE}{tenantid}`, { iss: issuerOf(A), tid: A }, any, false],
    [
      'the tenant in upper case',
      issuerOf(B.toUpperCase()),
      { iss: issuerOf(B), tid: B },
      any,
      false,
    ],
    [
      'a key of the template of keys, for a token of another',
      TEMPLATE,
      { iss: issuerOf(A, FIRST), tid: A },
      first,
      true,
    ],
    [
      'the template of the token, where keys have another',
      FIRST,
      { iss: issuerOf(A, FIRST), tid: A },
      first,
      false,
    ],
  ])('%s', (_, keyIssuer, claims, issuer, isFor) => {
    expect(isKeyForTenant(keyIssuer, { ...claims }, tenantRuleOf(issuer))).toBe(isFor)
  })

  test.each<[string, object | undefined]>([
    ['no claims', undefined],
    ['an issuer and an id that differ', { iss: issuerOf(A), tid: B }],
  ])('%s: the claims are refused, whatever the key', (_, claims) => {
    expect(isKeyForTenant(undefined, claims && { ...claims }, tenantRuleOf(any))).toBe(true)
    expect(accepts(claims ?? {})).toBe(false)
  })
})

test.each([
  [issuerOf(A), any, true],
  [issuerOf(CONSUMERS), any, false],
  [issuerOf(CONSUMERS), listed, true],
  [issuerOf(B), listed, false],
  [TEMPLATE, any, false],
  ['https://id.example/v2.0', any, false],
  [issuerOf(A, 'https://ix.example/{tenantid}/v2.0'), any, false],
  [issuerOf(A, 'https://id.example/{tenantid}/v1.0'), any, false],
  ['', any, false],
])('whether %s may be the issuer of a token', (iss, issuer, isAccepted) => {
  expect(isIssuerOfTenant(iss, tenantRuleOf(issuer))).toBe(isAccepted)
})

test.each<[string, object, string]>([
  ['no template', { template: undefined }, 'template must be a string with {tenantid} once'],
  ['a template without a place', { template: 'https://id.example' }, 'template must be a string'],
  ['one with two', { template: `${TEMPLATE}{tenantid}` }, 'template must be a string'],
  ['one for keys without a place', { keyTemplate: 'https://id.example' }, 'keyTemplate must be'],
  ['no claim', { claim: '' }, 'claim must be a string that is not empty'],
  [
    'no tenants',
    { tenants: undefined, except: undefined },
    "tenants must be 'any', or a list of UUIDs in lower case",
  ],
  ['an empty list', { tenants: [], except: undefined }, "tenants must be 'any', or a list"],
  [
    'one in upper case',
    { tenants: [A, B.toUpperCase()], except: undefined },
    "tenants must be 'any'",
  ],
  [
    'a hole',
    { tenants: Array.from<string>({ length: 2 }), except: undefined },
    "tenants must be 'any'",
  ],
  ['common', { tenants: 'common' }, "tenants must be 'any'"],
  ['an exception that is none', { except: ['common'] }, 'except must be a list of UUIDs'],
  ['exceptions of a list', { tenants: [A] }, "except is for tenants: 'any' alone"],
  ['a misspelt member', { tennants: 'any' }, 'unknown option "tennants"'],
  [
    'a claim that a tenant decides',
    { decidedByTenants: ['roles'] },
    'requiredClaims must not have "roles"',
  ],
])('a template with %s is a TypeError', (_, change, complaint) => {
  expect(() => {
    checkIssuerTemplate({ ...any, ...change }, ['sub', 'roles'])
  }).toThrow(complaint)
})
