import { corpusOf } from '../hostile/attacks/corpus/corpus.ts'
import { createWorld } from '../hostile/attacks/corpus/judge.ts'
import type { Row } from '../hostile/attacks/corpus/row.ts'
import { createTokenMaker } from '../hostile/attacks/corpus/token-maker.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { mainThread } from './measure.ts'
import { awsJwtVerify, fastJwt, jose, jsonwebtokenWithJwksRsa } from './subjects.ts'
import { markdownTable } from './table.ts'

// The dearest cases of the corpus of hostile input (test/hostile/attacks), and what their tokens cost beside us:
//
//   pnpm bench corpus
//
// Every case is judged by its own options and key document, with nothing remembered. The peers are given the corpus' RSA
// key and RS512: what they make of a token does not matter here. A cell has the CPU time of the main thread.

const TIMES = 50
const SHOWN = 5

const maker = await createTokenMaker('https://canary.test')
const { n = '', e = '', kid } = maker.issuer.rsa.jwk
const jwk = { kty: 'RSA', n, e, kid, alg: 'RS512', use: 'sig' } as const
const keyServer = await listenForKeys(jwk)
const peers = [jose, fastJwt, awsJwtVerify, jsonwebtokenWithJwksRsa].map((factory) =>
  factory({ jwk, urls: keyServer.urls }),
)

interface Case {
  readonly title: string
  readonly token: string
  /** Microseconds. */
  readonly cost: number
}

/** One that is judged by itself, and whose verifier can be made. */
function isAlone({ token, before, verdict }: Row): boolean {
  return typeof token === 'string' && before === undefined && verdict !== 'TypeError'
}

async function costOf(judge: () => unknown): Promise<number> {
  const before = mainThread.read()
  for (let count = 0; count < TIMES; count += 1) {
    try {
      await judge()
    } catch {
      // A refusal is what is measured, whatever it says.
    }
  }
  // In one go: the clock of a thread does not tick often.
  return (mainThread.read() - before) / TIMES
}

async function ownCostOf(row: Row): Promise<number> {
  const judgement = { ...row, options: { ...row.options, remember: false as const } }
  const world = createWorld(judgement, maker)
  // With the keys in hand.
  await world.judge(judgement)
  return await costOf(async () => await world.judge(judgement))
}

const rows = Object.entries(corpusOf(maker)).flatMap(([group, each]) =>
  each.filter(isAlone).map((row) => ({ group, row })),
)
// Once over all of it, so that the first case is not the dearest for being the first.
for (const { row } of rows) await ownCostOf(row)

const measured: Case[] = []
for (const { group, row } of rows) {
  const title = `${group}: ${row.name}`
  measured.push({ title, token: String(row.token), cost: await ownCostOf(row) })
}

async function print(name: string, cases: readonly Case[]): Promise<void> {
  const table: string[][] = []
  for (const { title, token, cost } of cases.toSorted((a, b) => b.cost - a.cost).slice(0, SHOWN)) {
    const costs = [cost]
    for (const peer of peers) costs.push(await costOf(peer.verification(token)))
    table.push([title, ...costs.map((each) => (each / 1000).toFixed(2))])
  }
  console.log(`The dearest of ${cases.length} cases ${name}, in milliseconds:\n`)
  console.log(markdownTable(['Case', 'Portcullis', ...peers.map((each) => each.name)], table))
  console.log('')
}

console.log(`${describeMachine()}\nMain thread by ${mainThread.name}; each ${TIMES} times.\n`)
// P-521 takes the platform a hundred times as long as RSA, and says nothing about us.
await print(
  'that name no elliptic curve',
  measured.filter(({ token }) => !isElliptic(token)),
)
await print(
  'that name one',
  measured.filter(({ token }) => isElliptic(token)),
)
keyServer.close()

function isElliptic(token: string): boolean {
  const header = Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()
  return /"alg":"E[Sd]/.test(header)
}
