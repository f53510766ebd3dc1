import { setImmediate as nextTurn } from 'node:timers/promises'

import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { inTurn, mainThread, median } from './measure.ts'
import { ES256, RS512, type SignatureKind } from './signature-kinds.ts'
import { jose, portcullis, type Subject } from './subjects.ts'
import { printTable } from './table.ts'

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

/** Medians of some rounds, in which the verifiers alternate. */
export async function printLoops(tokenCount: number, rounds: number): Promise<void> {
  const rows: (readonly [kind: SignatureKind, loops: number, Subject, readonly Loops[]])[] = []
  for (const kind of [RS512, ES256]) {
    const signer = createSigner(kind)
    const keyServer = await listenForKeys(signer.jwk)
    // More than a verifier remembers: each is new when its turn comes.
    const tokens = Array.from({ length: tokenCount }, (_, index) => signer.token(index))
    for (const count of [1, 64]) {
      const setting = { jwk: signer.jwk, kind, urls: keyServer.urls }
      const subjects = [portcullis, jose].map((make) => make(setting))
      const measured = await inTurn(
        subjects,
        rounds,
        async (each) => await run(each, tokens, count),
      )
      for (const [subject, results] of measured) rows.push([kind, count, subject, results])
    }
    keyServer.close()
  }
  printTable(
    `Loops that await each of ${tokenCount} new tokens; medians of ${rounds} rounds.`,
    [
      ['Tokens', ([{ name }]) => name],
      ['loops', ([, loops]) => loops, 0],
      ['Verifier', ([, , { name }]) => name],
      [
        'longest between two iterations, ms',
        ([, , , all]) => median(all.map((each) => each.longest)),
        1,
      ],
      ['most tokens between two', ([, , , all]) => median(all.map((each) => each.tokens)), 0],
      ['main thread, µs/token', ([, , , all]) => median(all.map((each) => each.cost)), 0],
    ],
    rows,
  )
}
