import { AuthError, createVerifier, localKeys } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { anyCharacter } from '../fuzz/inputs.ts'
import { ring } from './differential/documents.ts'
import { AUDIENCE, ISSUER } from './differential/rules.ts'
import { runs, timeout } from './differential/runs.ts'
import { NOW, rs512 } from './differential/signers.ts'
import { craftedToken, issuedToken, sign, tamperedToken } from './differential/tokens.ts'

// What a refusal tells developers, whatever the token is.

/** Characters. A shorter piece can be part of a sentence by chance. */
const PIECE = 16

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
)

/** Signed by nobody: its header says whatever it likes, its payload and its signature are noise. */
const noise = fc
  .record({
    header: fc.dictionary(fc.constantFrom('alg', 'kid', 'typ', 'crit', 'b64', 'x'), fc.jsonValue()),
    payload: fc.uint8Array({ minLength: PIECE, maxLength: 300 }),
    signature: fc.uint8Array({ minLength: PIECE, maxLength: 300 }),
  })
  .map(({ header, payload, signature }) =>
    [JSON.stringify(header), payload, signature]
      .map((part) => Buffer.from(part as string).toString('base64url'))
      .join('.'),
  )

const anyToken = fc.oneof(noise, anyText, craftedToken, tamperedToken, issuedToken)

const verifier = createVerifier({
  keys: localKeys(ring),
  algorithms: ['RS512', 'ES256'],
  issuer: ISSUER,
  audience: AUDIENCE,
  maxTokenAge: 60,
  requiredClaims: ['sub'],
  clock: manualClock(NOW + 200),
})

async function refusalOf(token: string): Promise<AuthError | undefined> {
  try {
    await verifier.verify(token)
    return undefined
  } catch (error) {
    if (error instanceof AuthError) return error
    throw error
  }
}

test(
  'no detail has a piece of a payload or a signature, or a control character',
  { timeout },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyToken, async (token) => {
        const detail = (await refusalOf(token))?.detail ?? ''
        expect(detail).toMatch(/^[ -~]*$/)
        expect(detail.length).toBeLessThan(4000)
        const [, payload = '', signature = ''] = token.split('.')
        expect(
          piecesOf(payload)
            .concat(piecesOf(signature))
            .filter((piece) => detail.includes(piece)),
        ).toEqual([])
      }),
      runs(3000),
    )
  },
)

test('no detail has a value of a claim that it may not show', { timeout }, async () => {
  const claim = fc.constantFrom('sub', 'jti', 'email', 'scope', 'nonce', 'exp', 'nbf', 'iat')
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(claim, fc.constant('canary'), { minKeys: 1 }),
      async (claims) => {
        const members = Object.entries({ aud: 'x', iss: 'y', ...claims }).map(
          ([name, value]) => [JSON.stringify(name), JSON.stringify(value)] as const,
        )
        const detail = (await refusalOf(sign(rs512, undefined, [...members])))?.detail
        expect(detail).toBeDefined()
        expect(detail).not.toContain('canary')
      },
    ),
    runs(200),
  )
})

function piecesOf(text: string): string[] {
  const count = Math.max(0, text.length - PIECE + 1)
  return Array.from({ length: count }, (_, at) => text.slice(at, at + PIECE))
}
