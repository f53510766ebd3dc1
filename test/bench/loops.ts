import { setImmediate as nextTurn } from 'node:timers/promises'

import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { mainThread, median } from './measure.ts'
import { ES256, RS512, type SignatureKind } from './signature-kinds.ts'
import { jose, portcullis, type Subject } from './subjects.ts'

// What loops that await each of many new tokens do to everything else in the process: how long the event loop stands still.

interface Loops {
  /** Milliseconds of the main thread's own time: the most between two iterations of the event loop. */
  readonly longest: number
  /** The most between two iterations. */
  readonly tokens: number
  /** Microseconds of the main thread for each token, with what it takes to look on. */
  readonly cost: number
}

/** @param count How many loops share the tokens. */
async function run(subject: Subject, tokens: readonly string[], count: number): Promise<Loops> {
  const verifications = tokens.map((token) => subject.verification(token))
  let [longest, most, verified] = [0, 0, 0]
  await nextTurn()
  const start = mainThread.read()
  let last = { time: start, verified }
  function turn(): void {
    longest = Math.max(longest, mainThread.read() - last.time)
    most = Math.max(most, verified - last.verified)
    last = { time: mainThread.read(), verified }
  }
  let next = setImmediate(function again() {
    turn()
    next = setImmediate(again)
  })
  await Promise.all(
    Array.from({ length: count }, async (_, loop) => {
      for (let index = loop; index < verifications.length; index += count) {
        await verifications[index]?.()
        verified += 1
      }
    }),
  )
  clearImmediate(next)
  turn()
  const cost = (last.time - start) / tokens.length
  return { longest: longest / 1000, tokens: most, cost }
}

export const LOOPS_HEADER = [
  'Tokens',
  'loops',
  'Verifier',
  'longest between two iterations, ms',
  'most tokens between two',
  'main thread, µs/token',
]

/** Medians of some rounds, in which the verifiers alternate. */
export async function followLoops(tokenCount: number, rounds: number): Promise<string[][]> {
  const rows: string[][] = []
  for (const kind of [RS512, ES256]) {
    for (const count of [1, 64]) rows.push(...(await compare(kind, { tokenCount, rounds, count })))
  }
  return rows
}

async function compare(
  kind: SignatureKind,
  {
    tokenCount,
    rounds,
    count,
  }: { readonly tokenCount: number; readonly rounds: number; readonly count: number },
): Promise<string[][]> {
  const signer = createSigner(kind)
  const keyServer = await listenForKeys(signer.jwk)
  // More than a verifier remembers: each is new when its turn comes.
  const tokens = Array.from({ length: tokenCount }, (_, index) => signer.token(index))
  const subjects = [portcullis, jose].map((make) =>
    make({ jwk: signer.jwk, kind, urls: keyServer.urls }),
  )
  const measured = new Map(subjects.map((subject): [Subject, Loops[]] => [subject, []]))
  for (let round = -1; round < rounds; round += 1) {
    for (const [subject, results] of measured) {
      const result = await run(subject, tokens, count)
      if (round >= 0) results.push(result)
    }
  }
  keyServer.close()
  return [...measured].map(([{ name }, results]) => [
    kind.name,
    String(count),
    name,
    median(results.map(({ longest }) => longest)).toFixed(1),
    median(results.map((each) => each.tokens)).toFixed(0),
    median(results.map(({ cost }) => cost)).toFixed(0),
  ])
}
