import fc from 'fast-check'

import {
  checkClaims,
  type ClaimRules,
  couldBeAccepted,
} from '../../../../packages/core/src/claims/claims.ts'
import { requiredClaimsOf } from '../../../../packages/core/src/claims/required-claims.ts'
import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { anyCharacter, jsonText, mostly, nearlyAll, octetsOf } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600
const DOMAIN = 'example.org'
const RULES = {
  isAccessToken: true,
  issuer: null,
  audience: null,
  clockTolerance: 5,
  requireExpiry: true,
  maxTokenAge: undefined,
  requiredClaims: requiredClaimsOf({ sub: { pathUnder: `spiffe://${DOMAIN}/` } }),
} satisfies ClaimRules

const segment = mostly(
  fc.constantFrom('ns', 'orders', 'sa', 'a.b', 'A_b-9', '...'),
  fc.oneof(
    fc.constantFrom(
      '',
      '.',
      '..',
      '%2e',
      '%2f',
      'a b',
      'a?b',
      'a#b',
      'a\n',
      'a\\b',
      'ö',
      'Ａ',
      '@',
    ),
    fc.string({ unit: anyCharacter, maxLength: 10 }),
  ),
)
const start = mostly(
  fc.constant(`spiffe://${DOMAIN}/`),
  fc.constantFrom(
    `spiffe://${DOMAIN}`,
    `SPIFFE://${DOMAIN}/`,
    `spiffe://${DOMAIN.toUpperCase()}/`,
    `spiffe://${DOMAIN}.evil.test/`,
    `spiffe://${DOMAIN}:443/`,
    `spiffe://a@${DOMAIN}/`,
    `spiffe:/${DOMAIN}/`,
    ` spiffe://${DOMAIN}/`,
    'https://example.org/',
    '',
  ),
)
const id = fc
  .tuple(start, fc.array(segment, { maxLength: 5 }))
  .map(([before, names]) => before + names.join('/'))

/** A payload whose `sub` must be a path within a trust domain of SPIFFE. */
export const path: FuzzTarget = {
  inputs: jsonText(nearlyAll({ sub: id, exp: fc.constant(NOW + 60) })),
  run(input) {
    const payload = octetsOf(input)
    const accepted = read(payload)
    hold(couldBeAccepted(payload, RULES, NOW) === (accepted !== undefined), 'two answers are one')
    const sub = accepted === undefined ? stated(input) : accepted.sub
    if (typeof sub !== 'string') {
      hold(accepted === undefined, 'what is no text is no path')
      return
    }
    const isPath = isWorkload(sub)
    if (accepted !== undefined) hold(isPath, 'it is what SPIFFE calls an id of the domain')
    // All else that may be wrong with such a payload is not its path.
    if (isPath && isPlain(input)) hold(accepted !== undefined, 'each such id is accepted')
  },
}

/** As SPIFFE describes it: a URL of the scheme, the trust domain alone as its authority, and names that are not empty. */
function isWorkload(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { href, protocol, host, username, pathname } = new URL(text)
  // A parser repairs what is written otherwise.
  if (href !== text || protocol !== 'spiffe:' || host !== DOMAIN || username !== '') return false
  const [, ...names] = pathname.split('/')
  if (text !== `spiffe://${DOMAIN}${pathname}`) return false
  return names.length > 0 && names.every((name) => /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/.test(name))
}

function stated(input: string): unknown {
  try {
    const claims: unknown = JSON.parse(input)
    return typeof claims === 'object' && claims !== null && Object.hasOwn(claims, 'sub')
      ? Reflect.get(claims, 'sub')
      : undefined
  } catch {
    // It is no JSON.
  }
  return undefined
}

/** It has these two claims alone, as they should be. */
function isPlain(input: string): boolean {
  const sub = stated(input)
  return input === JSON.stringify({ sub, exp: NOW + 60 })
}

function read(payload: Buffer): ReturnType<typeof checkClaims> | undefined {
  try {
    return checkClaims(payload, RULES, NOW)
  } catch (error) {
    if (error instanceof AuthError && error.code === 'invalid_token') return undefined
    throw error
  }
}
