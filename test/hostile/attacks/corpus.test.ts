import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'

import { AuthError } from '@portcullis/core'
import { afterAll, describe, expect, test } from 'vitest'

import { refusals } from '../../../packages/core/src/refusal/refusals.ts'
import { corpusOf } from './corpus/corpus.ts'
import { sharedMembers, startCanary, watchNetwork, watchProcess } from './corpus/guards.ts'
import { codeOf, createWorld, type Outcome, requestsOf } from './corpus/judge.ts'
import type { Row } from './corpus/row.ts'
import { createTokenMaker } from './corpus/token-maker.ts'

const canary = await startCanary()
const maker = await createTokenMaker(canary.url)
const corpus = Object.entries(corpusOf(maker))
const rows = corpus.flatMap(([, each]) => each)
const network = watchNetwork()
const faults = watchProcess()
const members = sharedMembers()

afterAll(async () => {
  network[Symbol.dispose]()
  faults[Symbol.dispose]()
  await canary[Symbol.asyncDispose]()
})

describe.each(corpus)('%s', (_, each) => {
  test.each(titled(each))('%s', async (_title, row) => {
    await expectVerdict(row)
    await expectNoHarm()
  })
})

/** Whole: `$name` would be cut short. */
function titled(each: readonly Row[]): (readonly [title: string, row: Row])[] {
  return each.map((row) => [`${row.name}: ${row.verdict}`, row])
}

async function expectVerdict(row: Row): Promise<void> {
  const world = createWorld(row, maker)
  for (const step of row.before ?? []) expect(await world.take(step)).toEqual([])
  expectOutcome(row, await world.judge(row))
  // Once more, twice at once: what is remembered, and what other threads check, must say the same and ask nobody.
  const isDecided = row.before === undefined && codeOf(row.verdict) === 'invalid_token'
  const again = await Promise.all(
    (isDecided ? [row, row] : []).map(async (each) => await world.judge(each)),
  )
  expect(again.filter(({ verdict }) => verdict !== row.verdict)).toEqual([])
  expect(world.requests).toBe(requestsOf(row))
  expect(world.strays).toEqual([])
}

function expectOutcome({ token, verdict }: Row, { auth, error, ...outcome }: Outcome): void {
  expect(outcome.verdict).toBe(verdict)
  if (auth !== undefined) {
    expect(auth.token).toBe(token)
    expect([auth, auth.claims, auth.header].every(Object.isFrozen)).toBe(true)
    expect(Object.getPrototypeOf(auth.claims)).toBe(Object.prototype)
  }
  if (error instanceof AuthError) {
    expect(error.code).toBe(codeOf(verdict))
    expect(error.message.length).toBeLessThan(200)
    const printed = [
      inspect(error),
      JSON.stringify(error),
      error.stack,
      JSON.stringify(error.headers),
    ]
    expect(printed.join('\n')).not.toMatch(/eyJ|auth\.test|127\.0\.0\.1/)
  }
}

/** Whatever the verdict: nothing is changed that others use, nothing fails unheard, and nobody is asked. */
async function expectNoHarm(): Promise<void> {
  await setImmediate() // by then a rejection that nobody handles has been reported
  expect(faults.seen).toEqual([])
  expect(network.seen).toEqual([])
  expect(canary.visits).toBe(0)
  expect(sharedMembers()).toBe(members)
}

test('the corpus has 600 cases that are refused and 150 that are accepted, at least', () => {
  const accepted = rows.filter(({ verdict }) => verdict === 'accepted')
  expect(accepted.length).toBeGreaterThanOrEqual(150)
  expect(rows.length - accepted.length).toBeGreaterThanOrEqual(600)
})

test('every reason to refuse a token has a case', () => {
  const tried = new Set<string>(rows.map(({ verdict }) => verdict))
  const reasons = Object.keys(refusals.invalid_token.reasons)
  // Whether a token is revoked, or no longer active at its issuer, is not in the token: the models of revocations and of
  // introspection, in test/simulation/model, have that.
  expect(
    reasons.filter((reason) => !tried.has(reason)),
    'add a case to the file of its check in test/hostile/attacks/corpus; a reason that no token shows belongs in this list',
  ).toEqual(['inactive', 'revoked'])
})

test('README.md says how many hundreds there are', async () => {
  const readme = await readFile(new URL('README.md', import.meta.url), 'utf8')
  const accepted = rows.filter(({ verdict }) => verdict === 'accepted').length
  const [refused, good] = [rows.length - accepted, accepted].map((each) =>
    (Math.floor(each / 100) * 100).toLocaleString('en'),
  )
  expect(readme).toContain(`in the corpus, of ${refused} to refuse and ${good} to accept, at least`)
})

test('no two cases have one name', () => {
  const names = rows.map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('no two cases are one token with one verifier and one document', () => {
  const inputs = rows
    .filter(
      ({ before, verdict, options }) =>
        before === undefined && verdict !== 'TypeError' && options?.clock === undefined,
    )
    .map(({ token, options, document, metadata }) =>
      inspect([token, options, document, metadata], { depth: 9, maxStringLength: 70_000 }),
    )
  expect(inputs.length - new Set(inputs).size).toBe(0)
})

const SOURCE =
  /^(?:RFC \d{4}(?: (?:section|appendix) [\dA-Z](?:\.?\d+)*)?|SP 800-186 section [\d.]+|CVE-\d{4}-\d{4,}|GHSA(?:-[\da-z]{4}){3}|CWE-\d+)$/

test('every case says which section or advisory decides', () => {
  const unknown = rows
    .flatMap(({ source }) => source.split('; '))
    .filter((one) => !SOURCE.test(one))
  expect(unknown).toEqual([])
})
