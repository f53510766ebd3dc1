import { describe, expect, test } from 'vitest'

import { AuthError } from '../../src/refusal/errors.ts'
import { authErrorReasons, refusals } from '../../src/refusal/refusals.ts'

const rows = Object.entries(authErrorReasons).flatMap(([code, reasons]) =>
  reasons.map((reason) => ({ code, reason })),
)

const errorOf = (code: string, reason: string) =>
  new AuthError(...([code, reason] as ConstructorParameters<typeof AuthError>))

describe('authErrorReasons', () => {
  test('has each reason of each code, in the order of the table', () => {
    expect(rows).toEqual(
      Object.entries(refusals).flatMap(([code, row]) =>
        Object.keys(row.reasons).map((reason) => ({ code, reason })),
      ),
    )
    expect(rows).toContainEqual({ code: 'use_dpop_nonce', reason: 'invalid_nonce' })
  })

  test.each(rows)('$code, $reason: there is such a refusal', ({ code, reason }) => {
    expect(errorOf(code, reason)).toMatchObject({ code, reason })
  })

  test('has no reason of another code', () => {
    expect(() => errorOf('missing_token', 'expired')).toThrow(TypeError)
    expect(authErrorReasons.missing_token).toEqual(['missing_header', 'other_scheme'])
  })

  test('belongs to everybody, so nobody can change it', () => {
    expect([authErrorReasons, ...Object.values(authErrorReasons)].every(Object.isFrozen)).toBe(true)
  })
})
