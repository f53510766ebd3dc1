import { setImmediate as nextTurn } from 'node:timers/promises'

import { inTurn, mainThread, median, type Subject } from './measure.ts'
import { ES256, RS512 } from './signature-kinds.ts'
import { createSetting, jose, portcullis } from './subjects.ts'
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
  return { longest: longest / 1000, tokens: most, cost: (last.time - start) / tokens.length }
}

/** Medians of some rounds, in which the verifiers alternate. */
export async function printLoops(tokenCount: number, rounds: number): Promise<void> {
  const rows: { of: string; loops: number; name: string; all: readonly Loops[] }[] = []
  for (const kind of [RS512, ES256]) {
    const setting = await createSetting(kind)
    // More than a verifier remembers: each is new when its turn comes.
    const tokens = setting.signer.tokens(tokenCount)
    for (const loops of [1, 64]) {
      const subjects = [portcullis, jose].map((make) => make(setting))
      const measured = await inTurn(subjects, rounds, (each) => run(each, tokens, loops))
      for (const [{ name }, all] of measured) rows.push({ of: kind.name, loops, name, all })
    }
    setting.keyServer.close()
  }
  const middle = (part: keyof Loops) => (row: (typeof rows)[number]) =>
    median(row.all.map((each) => each[part]))
  printTable(
    `Loops that await each of ${tokenCount} new tokens; medians of ${rounds} rounds.`,
    [
      ['Tokens', ({ of }) => of],
      ['loops', ({ loops }) => loops, 0],
      ['Verifier', ({ name }) => name],
      ['longest between two iterations, ms', middle('longest'), 1],
      ['most tokens between two', middle('tokens'), 0],
      ['main thread, µs/token', middle('cost'), 0],
    ],
    rows,
  )
}
