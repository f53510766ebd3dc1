import { type AuthErrorReason, dpopProofs } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { type BoundProof, boundProofs } from '../../hostile/attacks/corpus/bound-proofs.ts'
import { createTokenMaker } from '../../hostile/attacks/corpus/token-maker.ts'
import { frameworks } from './frameworks/index.ts'
import { token, verifier } from './tokens.ts'

// Hostile proofs at every adapter: a few for each reason, and all URLs, since frameworks show those in their own ways.

const ORIGIN = 'https://api.example'
const OF_EACH_REASON = 3

const maker = await createTokenMaker('https://canary.test')
const all = await boundProofs(
  maker,
  { url: `${ORIGIN}/v1/a`, method: 'GET', now: Math.floor(Date.now() / 1000) },
  async (jkt) => await token({ claims: { cnf: { jkt } } }),
)
const chosen = all.filter(({ row }, at) => {
  const before = all.slice(0, at).filter((each) => each.row.verdict === row.verdict)
  return row.verdict === 'proof_url' || before.length < OF_EACH_REASON || isOfUrl(row.name)
})

function isOfUrl(name: string): boolean {
  return name.includes('https://')
}

describe.each(frameworks)('$name', ({ createApp }) => {
  test('judges hostile proofs as the corpus says, below a router as well', async () => {
    const reasons: AuthErrorReason[] = []
    const options = {
      dpop: dpopProofs({ origin: ORIGIN }),
      onRefusal: ({ reason }: { reason: AuthErrorReason }) => void reasons.push(reason),
    }
    const routes = [{ path: '/a', handle: () => ({}) }]
    await using app = await createApp({
      guards: [{ verifier, options }],
      routers: { '/v1': { routes } },
    })
    const judge = async ({ row: { name, verdict, proof }, token: bound }: BoundProof) => {
      const headers = { authorization: `DPoP ${bound}`, dpop: proof }
      const response = await fetch(`${app.url}/v1/a?b=c`, { headers })
      await response.body?.cancel()
      const found = response.status === 200 ? 'accepted' : reasons.pop()
      expect({ name, found }).toEqual({ name, found: verdict })
    }
    for (const each of chosen) await judge(each)
  })
})

test('there is a case for each reason', () => {
  const reasons = new Set(all.map(({ row }) => row.verdict))
  expect(new Set(chosen.map(({ row }) => row.verdict))).toEqual(reasons)
  expect(chosen.length).toBeGreaterThan(50)
})
