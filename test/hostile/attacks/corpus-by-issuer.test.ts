import { byIssuer, type Verifier } from '@portcullis/core'
import { parseJsonObject } from '@portcullis/kit/json'
import { afterAll, describe, expect, test } from 'vitest'

import { corpusOf } from './corpus/corpus.ts'
import { watchNetwork, watchProcess } from './corpus/guards.ts'
import { createWorld, requestsOf } from './corpus/judge.ts'
import type { Options, Row, Verdict } from './corpus/row.ts'
import { createTokenMaker, ISSUER } from './corpus/token-maker.ts'

// Each row of the corpus through `byIssuer`, of an object and of a function: the verdict is that of the verifier itself. It
// differs where the issuer cannot be read, or has no verifier: the token is then `unknown_key`, whatever else is wrong with it.

const maker = await createTokenMaker('http://canary.test')
const rows = Object.values(corpusOf(maker))
  .flat()
  .filter(({ verdict }) => verdict !== 'TypeError')
const network = watchNetwork()
const faults = watchProcess()

afterAll(() => {
  network[Symbol.dispose]()
  faults[Symbol.dispose]()
})

/** What the form of a token decides, before anything reads its issuer. */
const OF_FORM: ReadonlySet<Verdict> = new Set(['too_large', 'critical_header'])

/** One for each verdict: an object says at once which verifier it is, and from there on both are the same. */
const oneOfEach = [...new Map(rows.map((row) => [row.verdict, row])).values()]

describe.each<readonly [string, readonly Row[], typeof listed]>([
  ['an object', oneOfEach, listed],
  ['a function', rows, found],
])('byIssuer of %s', (_, judged, standIn) => {
  test('gives tokens of the corpus the verdict of the verifier itself', async () => {
    const different: unknown[] = []
    for (const row of judged) {
      const verdict = await verdictThrough(row, standIn)
      if (!isExpected(row, verdict)) different.push([row.name, row.verdict, verdict])
    }
    expect(different).toEqual([])
    expect(network.seen).toEqual([])
    expect(faults.seen).toEqual([])
  })
})

test('most rows name the issuer, so that their own verifier judges them', () => {
  const named = rows.filter((row) => namesIssuer(row))
  expect(named.length / rows.length).toBeGreaterThan(0.7)
})

async function verdictThrough(row: Row, standIn: typeof listed): Promise<string> {
  const world = createWorld(row, maker, standIn)
  for (const step of row.before ?? []) await world.take(step)
  const { verdict } = await world.judge(row)
  if (world.strays.length > 0) return `asked ${world.strays.join(' ')}`
  return world.requests <= requestsOf(row) ? verdict : 'too many requests'
}

function isExpected(row: Row, verdict: string): boolean {
  if (verdict === row.verdict) return true
  return verdict === 'unknown_key' && !OF_FORM.has(row.verdict) && !namesIssuer(row)
}

/** Whether the token's payload can be read, as strictly as ever, and its `iss` has a verifier. */
function namesIssuer({ token, options }: Row): boolean {
  if (typeof token !== 'string') return false
  const [, payload = ''] = token.split('.')
  const iss = parseJsonObject(Buffer.from(payload, 'base64url'))?.['iss']
  return issuersOf(options).some((issuer) => issuer === iss)
}

function issuersOf(options: Options | undefined): readonly string[] {
  const { issuer = ISSUER } = options ?? {}
  return issuer === null ? [ISSUER] : [issuer].flat().filter((each) => typeof each === 'string')
}

/** A verifier that accepts any issuer cannot be listed as it is. */
function memberOf(verifier: Verifier, options: Options | undefined): Verifier {
  if (options?.issuer !== null) return verifier
  return { ...verifier, verify: async (token, more) => await verifier.verify(token, more) }
}

function listed(verifier: Verifier, options: Options | undefined): Verifier {
  const member = memberOf(verifier, options)
  return byIssuer(Object.fromEntries(issuersOf(options).map((issuer) => [issuer, member])))
}

function found(verifier: Verifier, options: Options | undefined): Verifier {
  const member = memberOf(verifier, options)
  const issuers = issuersOf(options)
  return byIssuer(async (issuer) => (issuers.includes(issuer) ? member : undefined), {
    maxTokenSize: options?.maxTokenSize,
  })
}
