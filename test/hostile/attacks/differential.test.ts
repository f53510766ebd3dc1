import fc from 'fast-check'
import { expect, test } from 'vitest'

import { anyCase } from './differential/cases.ts'
import { classes, explain } from './differential/classes.ts'
import { examples } from './differential/examples.ts'
import {
  type Case,
  isAccepted,
  isSameVerdict,
  judgeByJose,
  judgeByPortcullis,
} from './differential/judges.ts'
import { readCase } from './differential/reading.ts'
import { strict, unlisted } from './differential/rules.ts'
import { requestedRuns, runs, timeout } from './differential/runs.ts'
import { eddsa, es256, rs512, stranger } from './differential/signers.ts'
import { sign } from './differential/tokens.ts'

const LONG_RUN = 500_000

test(
  'Portcullis and jose give one verdict, and find the same claims, or differ for a known reason',
  { timeout },
  async () => {
    const counts = new Map(classes.map(({ name }) => [name, 0]))
    let accepted = 0
    let cases = 0
    const property = fc.asyncProperty(anyCase, async (each) => {
      const { portcullis, jose, known } = await compare(each)
      cases++
      if (isAccepted(portcullis) && isAccepted(jose)) accepted++
      for (const name of known) counts.set(name, (counts.get(name) ?? 0) + 1)
      if (isSameVerdict(portcullis, jose)) return
      expect(known, `${portcullis.because} here, ${jose.because} there`).not.toEqual([])
    })
    await fc.assert(property, runs(5000))

    // Were most cases refused by both, little would be compared.
    expect(accepted).toBeGreaterThan(cases / 10)
    if (requestedRuns !== undefined) console.table(tableOf(counts, cases))
    if (cases < LONG_RUN) return
    expect([...counts].filter(([, count]) => count === 0)).toEqual([])
  },
)

test('each class of disagreements has an example', () => {
  expect(Object.keys(examples).toSorted()).toEqual(classes.map(({ name }) => name).toSorted())
})

test.each(Object.entries(examples))(
  '%s: jose differs, for this reason alone',
  async (name, each) => {
    expect((await compare(each)).known).toEqual([name])
  },
)

test('a key that is not read excuses the refusal of an algorithm only if no other key is for it', () => {
  const { n, ...rest } = rs512.publicJwk
  const token = sign(rs512)
  const excused = (...others: readonly object[]) => {
    const document = { keys: [{ ...rest, n: `${n}!` }, ...others] }
    const subject = readCase({ rules: unlisted, document, token })
    const verdicts = { portcullis: { because: 'algorithm' }, jose: { because: 'accepted' } }
    return explain(subject, verdicts).map(({ name }) => name)
  }
  const name = 'no key for the algorithm, but one that is not read'
  const { kid: _, ...silent } = stranger.publicJwk
  expect(excused()).toEqual([name])
  expect(excused(es256.publicJwk, { ...silent, alg: 'PS512' }, { ...silent, use: 'enc' })).toEqual([
    name,
  ])
  expect(excused({ ...silent, n: `${silent.n}!` })).toEqual([name])
  expect(excused({ ...silent, key_ops: ['verify', 'verify'] })).toEqual([name])
  expect(excused(silent)).toEqual([])
  expect(excused({ ...silent, kid: 'other', alg: 'RS512' })).toEqual([])
})

test('an entry that repeats an operation proves nothing, so that the other one is the reason', async () => {
  const { n = '', ...rest } = rs512.publicJwk
  const repeated = { ...rs512.publicJwk, key_ops: ['verify', 'verify'] }
  const document = { keys: [{ ...rest, n: `${n}!` }, repeated] }
  const { known } = await compare({ rules: strict, document, token: sign(rs512) })
  expect(known).toEqual(['key in loose base64url'])
})

test('a key proves whatever another name of its algorithm says', async () => {
  const document = { keys: [{ ...eddsa.publicJwk, alg: 'Ed25519', ext: null }] }
  const { known } = await compare({ rules: strict, document, token: sign(eddsa) })
  expect(known).toEqual(['key with an ext that is no boolean'])
})

/** Judges by both, and names the classes of a disagreement. */
async function compare(each: Case) {
  const [portcullis, jose] = await Promise.all([judgeByPortcullis(each), judgeByJose(each)])
  const known = isSameVerdict(portcullis, jose)
    ? []
    : explain(readCase(each), { portcullis, jose }).map(({ name }) => name)
  return { portcullis, jose, known }
}

interface TableRow {
  readonly refusedBy?: string
  readonly count: number
}

function tableOf(counts: ReadonlyMap<string, number>, cases: number): Record<string, TableRow> {
  const rows = classes.map(({ name, refusedBy }): [string, TableRow] => [
    name,
    { refusedBy, count: counts.get(name) ?? 0 },
  ])
  return Object.fromEntries([...rows, ['all cases', { count: cases }]])
}
