import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { hugeTokens, type HostileToken, longForgeries, longGenuine } from './hostile-tokens.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { mainThread, median, quantile } from './measure.ts'
import { flags } from './report.ts'
import {
  awsJwtVerify,
  fastJwt,
  jose,
  jsonwebtokenWithJwksRsa,
  portcullisForgetful,
  type Subject,
} from './subjects.ts'
import { markdownTable } from './table.ts'

// What hostile tokens cost, in Portcullis and beside it:
//
//   pnpm bench refusals           all of it
//   pnpm bench refusals --quick   to see whether it runs
//
// Every token goes to every verifier in turn. A cell has the CPU time of the main thread for one verdict, and how long the
// event loop was held up by it at a stretch, the median: nothing else in the process gets a turn meanwhile. A wait for a
// key endpoint is neither.

const TIMES = flags.quick ? 4 : 100
const HUGE_TIMES = flags.quick ? 1 : 5

const signer = createSigner()
const keyServer = await listenForKeys(signer.jwk)
const setting = { jwk: signer.jwk, urls: keyServer.urls }
const subjects = [portcullisForgetful, jose, fastJwt, awsJwtVerify, jsonwebtokenWithJwksRsa].map(
  (factory) => factory(setting),
)

interface Judgement {
  readonly isAccepted: boolean
  /** Milliseconds. */
  readonly cpu: number
  readonly holdUps: readonly number[]
}

async function judge(subject: Subject, token: string, times: number): Promise<Judgement> {
  const verification = subject.verification(token)
  const holdUps: number[] = []
  for (let count = 0; count < times; count += 1) holdUps.push(await holdUpOf(verification))
  globalThis.gc?.()
  const before = mainThread.read()
  for (let count = 0; count < times; count += 1) await accepts(verification)
  const cpu = (mainThread.read() - before) / 1000 / times
  return { isAccepted: await accepts(verification), cpu, holdUps }
}

/** The longest time between two turns of the event loop, in milliseconds. */
async function holdUpOf(verification: () => unknown): Promise<number> {
  await nextTurn()
  const judgement = { isOver: false }
  let longest = 0
  let last = performance.now()
  const verdict = accepts(verification).finally(() => {
    judgement.isOver = true
  })
  do {
    await nextTurn()
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  } while (!judgement.isOver)
  await verdict
  return longest
}

async function accepts(verification: () => unknown): Promise<boolean> {
  try {
    return (await verification()) !== false
  } catch {
    // A refusal is what is measured, whatever it says.
    return false
  }
}

async function warmUp(): Promise<void> {
  const end = performance.now() + (flags.quick ? 100 : 3000)
  for (let index = 0; performance.now() < end; index += 1) {
    const token = signer.token(index)
    for (const subject of subjects) {
      await accepts(subject.verification(token))
      await accepts(subject.verification(`${token.slice(0, -8)}AAAAAAAA`))
    }
  }
}

async function examine(tokens: readonly HostileToken[], times: number): Promise<void> {
  const judgements = subjects.map((): Judgement[] => [])
  const rows: string[][] = []
  for (const { name, token } of tokens) {
    const row = [name, String(token.length)]
    for (const [index, subject] of subjects.entries()) {
      const judgement = await judge(subject, token, times)
      judgements[index]?.push(judgement)
      const { isAccepted, cpu, holdUps } = judgement
      row.push(`${describe(cpu, median(holdUps))}${isAccepted ? ', accepted' : ''}`)
    }
    rows.push(row)
  }
  const worst = judgements.map((each) => {
    const medians = each.map(({ holdUps }) => median(holdUps))
    return describe(Math.max(...each.map(({ cpu }) => cpu)), Math.max(...medians))
  })
  const most = judgements.map((each) => {
    const all = each.flatMap(({ holdUps }) => holdUps)
    return quantile(all, 0.999).toFixed(2)
  })
  rows.push(['the worst of these', '', ...worst], ['99.9 % held up at most', '', ...most])
  const header = ['Milliseconds: CPU / held up', 'octets', ...subjects.map(({ name }) => name)]
  console.log(`${markdownTable(header, rows)}\n`)
}

function describe(cpu: number, heldUp: number): string {
  return `${cpu.toFixed(2)} / ${heldUp.toFixed(2)}`
}

await warmUp()
console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.\n`)
console.log(`Each token ${TIMES} times:\n`)
await examine([...longForgeries(signer), ...longGenuine(signer)], TIMES)
console.log(`Each token ${HUGE_TIMES} times:\n`)
await examine(hugeTokens(signer), HUGE_TIMES)
keyServer.close()
