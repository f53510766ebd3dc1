import { createVerifier, localKeys } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { type Defect, defects, tokenWith, withoutConflicts } from './differential/defects.ts'
import { documentAndToken, ring } from './differential/documents.ts'
import { isAccepted, judgeByPortcullis, verdictOf } from './differential/judges.ts'
import { claimsEdit, edited, headerEdit } from './differential/members.ts'
import { isObject } from './differential/reading.ts'
import { AUDIENCE, ISSUER, lax, strict, typed } from './differential/rules.ts'
import { requestedRuns, runs, timeout } from './differential/runs.ts'
import { inSegment } from './differential/segments.ts'
import { encode, es256, NOW, rs512, type Signer, signers } from './differential/signers.ts'
import { flip, splice } from './differential/texts.ts'
import {
  craftedToken,
  goodClaims,
  headerOf,
  issuedToken,
  sign,
  tamperedToken,
} from './differential/tokens.ts'

const strictOptions = {
  algorithms: strict.algorithms,
  issuer: ISSUER,
  audience: AUDIENCE,
  clock: manualClock(NOW),
}

/** Times at which the tokens are good, not yet good, and expired. */
const anyTime = fc.constantFrom(
  NOW,
  NOW,
  NOW + 1,
  NOW - 20,
  NOW - 80,
  NOW + 304,
  NOW + 305,
  NOW + 1000,
)

/** Puts any list in an order of its own. */
const reorder = fc
  .array(fc.double({ noNaN: true, min: 0, max: 1 }), { minLength: 12, maxLength: 12 })
  .map((ranks) => <Value>(values: readonly Value[]): Value[] => {
    const rankOf = new Map(values.map((value, at) => [value, ranks[at % ranks.length] ?? 0]))
    return values.toSorted((one, other) => (rankOf.get(one) ?? 0) - (rankOf.get(other) ?? 0))
  })

const changesWanted = requestedRuns ?? 20_000

/** RSA more often: it has the longest signatures, and the shortest time to check one. */
const rsaSigners = signers.filter(({ publicJwk }) => publicJwk.kty === 'RSA')
const turns = [...signers, ...rsaSigners]

test(
  'each single bit of an accepted token counts: all changes are refused',
  { timeout },
  async () => {
    const verifier = createVerifier({ ...strictOptions, keys: localKeys(ring) })
    const accepted: string[] = []
    let changes = 0
    for (let turn = 0; changes < changesWanted; turn++) {
      const signer = turns[turn % turns.length] ?? rs512
      const token = sign(signer)
      // It is remembered from here on, which must not help what is almost like it.
      await verifier.verify(token)
      for (const changed of withOneBitChanged(token, strideOf(signer))) {
        changes++
        if (isAccepted(await verdictOf(verifier, changed))) accepted.push(changed)
      }
      await verifier.verify(token)
    }
    expect(accepted).toEqual([])
  },
)

/**
 * In the text, whose characters have 16 bits (a decoder that looks at 8 takes U+0141 for an A), and in the octets that
 * its segments stand for.
 */
function* withOneBitChanged(token: string, stride: number): Generator<string> {
  for (let bit = 0; bit < token.length * 16; bit += stride) {
    const at = Math.floor(bit / 16)
    yield splice(token, at, 1, String.fromCharCode(token.charCodeAt(at) ^ (1 << (bit % 16))))
  }
  for (const [index, segment] of token.split('.').entries()) {
    const octets = Buffer.from(segment, 'base64url')
    for (let bit = 0; bit < octets.length * 8; bit += stride) {
      yield inSegment(index, () => encode(flip(octets, bit)))(token)
    }
  }
}

/** Every bit, but for a signature that takes a millisecond and more to check. */
function strideOf({ alg }: Signer): number {
  return alg === 'ES512' ? 29 : 1
}

test('what is passed in is left as it was, and may be frozen', { timeout }, async () => {
  const property = fc.asyncProperty(documentAndToken, async ({ document, token }) => {
    const copy = structuredClone(document)
    const verdict = await judgeByPortcullis({ rules: strict, document: copy, token })
    expect(copy).toEqual(document)

    const rules = deepFreeze(structuredClone(strict))
    const frozen = deepFreeze(structuredClone(document))
    expect(await judgeByPortcullis({ rules, document: frozen, token })).toEqual(verdict)
  })
  await fc.assert(property, runs(300))
})

test('the order of header and claim members does not count', { timeout }, async () => {
  const plan = fc.record({
    header: fc.array(headerEdit, { maxLength: 2 }),
    claims: fc.array(claimsEdit, { maxLength: 2 }),
    rules: fc.constantFrom(strict, lax, typed),
    reorder,
  })
  const property = fc.asyncProperty(plan, async ({ header, claims, rules, reorder: inOrder }) => {
    const one = edited(headerOf(es256), header)
    const other = edited(goodClaims(), claims)
    const verdicts = await Promise.all(
      [sign(es256, one, other), sign(es256, inOrder(one), inOrder(other))].map((token) =>
        judgeByPortcullis({ rules, document: ring, token }),
      ),
    )
    expect(verdicts[1]).toEqual(verdicts[0])
  })
  await fc.assert(property, runs(800))
})

test('the order of the members of a key document does not count', { timeout }, async () => {
  const property = fc.asyncProperty(documentAndToken, reorder, async (pair, inOrder) => {
    const document = reorderDeeply(pair.document, inOrder)
    const [one, other] = await Promise.all(
      [pair, { ...pair, document }].map((each) => judgeByPortcullis({ rules: strict, ...each })),
    )
    expect(other).toEqual(one)
  })
  await fc.assert(property, runs(200))
})

test('what was verified before, or is at the same time, does not count', { timeout }, async () => {
  const keys = localKeys(ring)
  const anyToken = fc.oneof(issuedToken, issuedToken, tamperedToken, craftedToken)
  const history = fc.record({
    tokens: fc.array(anyToken, { minLength: 1, maxLength: 6 }),
    steps: fc.array(fc.record({ pick: fc.array(fc.nat(), { maxLength: 5 }), now: anyTime }), {
      minLength: 1,
      maxLength: 8,
    }),
    max: fc.constantFrom(1, 2, 1000),
  })
  const property = fc.asyncProperty(history, async ({ tokens, steps, max }) => {
    const clock = manualClock(NOW)
    const options = { ...strictOptions, keys, clock }
    const used = createVerifier({ ...options, remember: { max } })
    for (const { pick, now } of steps) {
      clock.set(now)
      const picked = pick.map((index) => tokens[index % tokens.length] ?? '')
      const together = await Promise.all(picked.map((token) => verdictOf(used, token)))
      const alone = await Promise.all(
        picked.map((token) => verdictOf(createVerifier({ ...options, remember: false }), token)),
      )
      expect(together).toEqual(alone)
    }
  })
  await fc.assert(property, runs(150))
})

test('of two defects, the one that is looked for first is the reason', async () => {
  for (const [at, one] of defects.entries()) {
    await expectFirstToBeTheReason([one])
    for (const other of defects.slice(at + 1)) await expectFirstToBeTheReason([one, other])
  }
})

test(
  'of many defects, the one that is looked for first is the reason, and mending it shows the next',
  { timeout },
  async () => {
    const property = fc.asyncProperty(fc.subarray([...defects]), async (present) => {
      await expectFirstToBeTheReason(present)
      for (const mended of present) {
        await expectFirstToBeTheReason(present.filter((each) => each !== mended))
      }
    })
    await fc.assert(property, runs(150))
  },
)

async function expectFirstToBeTheReason(present: readonly Defect[]): Promise<void> {
  const [first] = withoutConflicts(present)
  const token = tokenWith(withoutConflicts(present))
  const { because } = await judgeByPortcullis({ rules: typed, document: ring, token })
  expect(because).toBe(first?.reason ?? 'accepted')
}

function reorderDeeply(
  value: unknown,
  inOrder: <Value>(values: readonly Value[]) => Value[],
): unknown {
  if (Array.isArray(value)) return value.map((each) => reorderDeeply(each, inOrder))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(
    ([name, each]) => [name, reorderDeeply(each, inOrder)] as const,
  )
  return Object.fromEntries(inOrder(members))
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
