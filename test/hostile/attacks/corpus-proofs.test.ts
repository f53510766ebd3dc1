import { inspect } from 'node:util'

import { AuthError, dpopProofs } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { calculateJwkThumbprint } from 'jose'
import { afterAll, expect, test } from 'vitest'

import { proofMethods } from '../../../packages/core/src/dpop/proof-check.ts'
import { sharedMembers, startCanary, watchNetwork, watchProcess } from './corpus/guards.ts'
import { type ProofRow, proofs, type ProvenRequest } from './corpus/proofs.ts'
import { createTokenMaker } from './corpus/token-maker.ts'

const canary = await startCanary()
const maker = await createTokenMaker(canary.url)
const clock = manualClock()
const request: ProvenRequest = {
  url: 'https://api.example/things/a',
  method: 'GET',
  token: maker.token(),
  now: clock.now(),
}
const rows = proofs(maker, request)
const network = watchNetwork()
const faults = watchProcess()
const members = sharedMembers()

afterAll(async () => {
  network[Symbol.dispose]()
  faults[Symbol.dispose]()
  await canary[Symbol.asyncDispose]()
})

const guards = {
  'a guard': dpopProofs({ origin: 'https://api.example', clock }),
  'a guard behind a proxy that takes off a path': dpopProofs({
    origin: ['https://other.example', 'https://api.example/things'],
    clock,
  }),
}

function targetFor(name: string): string {
  return name === 'a guard' ? '/things/a?b=c' : '/a?b=c'
}

async function outcomeOf({ proof }: ProofRow, name: keyof typeof guards) {
  const { method, token } = request
  try {
    const asked = { proof, method, target: targetFor(name), token }
    return { verdict: 'accepted', proven: await proofMethods(guards[name]).check(asked) }
  } catch (error) {
    // Anything else would be a 500.
    if (!(error instanceof AuthError)) throw error
    return { verdict: error.reason, error }
  }
}

for (const name of Object.keys(guards) as (keyof typeof guards)[]) {
  test.each(rows.map((row) => [`${row.name}: ${row.verdict}`, row] as const))(
    `${name}: %s`,
    async (_, row) => {
      const outcome = await outcomeOf(row, name)
      expect(outcome.verdict).toBe(row.verdict)
      const thumbprint = await calculateJwkThumbprint(row.key.jwk)
      expect(outcome.proven?.jkt ?? thumbprint).toBe(thumbprint)
      const shown = outcome.error
      expect(`${inspect(shown)}${JSON.stringify(shown?.headers)}`).not.toMatch(/eyJ|127\.0\.0\.1/)
      const again = await Promise.all([outcomeOf(row, name), outcomeOf(row, name)])
      expect(again.map(({ verdict }) => verdict)).toEqual([row.verdict, row.verdict])
    },
  )
}

test('no proof asks anybody for anything, fails unheard, or changes what others use', () => {
  expect([faults.seen, network.seen, canary.visits]).toEqual([[], [], 0])
  expect(sharedMembers()).toBe(members)
})

test('the corpus of proofs has 250 cases that are refused, each with a name of its own', () => {
  expect(rows.filter(({ verdict }) => verdict !== 'accepted').length).toBeGreaterThanOrEqual(250)
  const names = rows.map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})
