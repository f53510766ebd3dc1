import { parseArgs } from 'node:util'

import { createTokenClient } from '@portcullis/client'
import { createOAuthClient } from '@portcullis/client/oauth'
import { createTestIssuer, tokenService } from '@portcullis/testing'

import { describeMachine } from './machine.ts'
import { median } from './measure.ts'
import { markdownTable } from './table.ts'

// What a call costs that finds its token held, beside that of a client of the token service:
//
//   pnpm bench held           ten seconds
//   pnpm bench held --quick   to see whether it runs; its figures mean nothing

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' } } })
const CALLS = flags.quick ? 1000 : 200_000
const ROUNDS = flags.quick ? 3 : 11

const issuer = await createTestIssuer({ algorithm: 'ES256', lifetime: 86_400 })
const { authUrl, fetch } = tokenService(issuer, { clients: { shop: { secret: 'secret' } } })
const common = { origins: [], fetch }
const account = createTokenClient({ authUrl, loginId: 'demo', password: 'demo', ...common })
const shop = { issuer: authUrl, clientId: 'shop', clientSecret: 'secret', ...common }
const client = createOAuthClient(shop)
const exp = Math.floor(Date.now() / 1000) + 86_400
const subject = { token: await issuer.token({ claims: { sub: 'ada' } }), claims: { exp } }
const handle = client.onBehalfOf(subject, { audience: 'orders' })

const CASES: Readonly<Record<string, () => Promise<string>>> = {
  'createTokenClient: get': async () => await account.get(),
  'createOAuthClient: get': async () => await client.get(),
  'a handle of onBehalfOf: get': async () => await handle.get(),
  'onBehalfOf and get': async () => await client.onBehalfOf(subject, { audience: 'orders' }).get(),
}

/** Nanoseconds for one call. */
async function cost(call: () => Promise<string>): Promise<number> {
  const start = process.hrtime.bigint()
  for (let count = 0; count < CALLS; count++) await call()
  return Number(process.hrtime.bigint() - start) / CALLS
}

const costs = new Map(Object.keys(CASES).map((name) => [name, [] as number[]]))
// Each in every round, so that what else the machine does concerns all of them.
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, call] of Object.entries(CASES)) costs.get(name)?.push(await cost(call))
}
const [first = NaN] = [...costs.values()].map(median)
console.log(describeMachine())
console.log(
  markdownTable(
    ['Call', 'ns', 'of the first'],
    [...costs].map(([name, each]) => [
      name,
      median(each).toFixed(0),
      (median(each) / first).toFixed(2),
    ]),
  ),
)
