import { createVerifier } from '@portcullis/core'
import { explain } from '@portcullis/core/explain'
import { createTestIssuer, manualClock } from '@portcullis/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { corpusOf } from './corpus/corpus.ts'
import { startCanary } from './corpus/guards.ts'
import { createWorld } from './corpus/judge.ts'
import type { Row } from './corpus/row.ts'
import { createTokenMaker } from './corpus/token-maker.ts'

// An explanation agrees with the verdict of a verifier with the same options, on everything hostile that we know of.

/** Where the verifier asks for newer keys than it has, in vain. An explanation judges by those that are there. */
const WITHOUT_ASKING: ReadonlyMap<string, string> = new Map([
  ['a forged token while it cannot be told', 'unknown_key'],
])

const canary = await startCanary()
const maker = await createTokenMaker(canary.url)
const rows = Object.values(corpusOf(maker)).flat()

afterAll(async () => {
  await canary[Symbol.asyncDispose]()
})

test.each(titled(rows))('%s', async (_title, row) => {
  const world = createWorld(row, maker)
  for (const step of row.before ?? []) await world.take(step)
  // The verifier asks first, so that both see the same keys.
  await world.judge(row)
  const expected = WITHOUT_ASKING.get(row.name) ?? row.verdict
  expect(await explainedVerdict(row.token, () => world.optionsFor(row))).toBe(expected)
  expect(canary.visits).toBe(0)
})

function titled(each: readonly Row[]): (readonly [title: string, row: Row])[] {
  return each.map((row) => [`${row.name}: ${row.verdict}`, row])
}

async function explainedVerdict(
  token: unknown,
  optionsOf: () => Parameters<typeof explain>[1],
): Promise<string> {
  try {
    const explanation = await explain(token as string, optionsOf())
    const { verdict, refusal, findings } = explanation
    const reasons = findings.flatMap(({ reason }) => reason ?? [])
    // The one refusal is among the findings; without one nothing has failed.
    const isFound = refusal === undefined ? reasons.length === 0 : reasons.includes(refusal.reason)
    expect(isFound, 'packages/core/src/explain: the findings lack the refusal').toBe(true)
    return refusal?.reason ?? verdict
  } catch (error) {
    if (error instanceof TypeError) return 'TypeError'
    throw error
  }
}

describe('what testing makes', async () => {
  const issuer = await createTestIssuer({ clock: manualClock(), issuer: 'https://auth.test' })
  const options = issuer.verifierOptions
  const verifier = createVerifier(options)
  const [bad, edge] = await Promise.all([issuer.badTokens(), issuer.edgeTokens()])

  test.each(bad)('a bad token, $reason: $name', async ({ token, reason }) => {
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason })
    expect(await explainedVerdict(token, () => options)).toBe(reason)
  })

  test.each(edge)('an unusual token: $name', async ({ token }) => {
    await expect(verifier.verify(token)).resolves.toBeDefined()
    expect(await explainedVerdict(token, () => options)).toBe('accepted')
  })
})
