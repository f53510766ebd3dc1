import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { hugeTokens, type HostileTokens, longForgeries, longGenuine } from './hostile-tokens.ts'
import { mainThread, median, quantile, type Subject } from './measure.ts'
import { describeMachine, flags } from './report.ts'
import { createSetting, jose, portcullisForgetful } from './subjects.ts'
import { markdownTable } from './table.ts'

// What hostile tokens cost, in Portcullis and beside it: `pnpm bench refusals`.
//
// Every token goes to every verifier in turn. A cell has the CPU time of the main thread for one verdict, and how long the
// event loop was held up by it at a stretch, the median: nothing else in the process gets a turn meanwhile. A wait for a
// key endpoint is neither.

const setting = await createSetting()
const { signer } = setting
const subjects = [portcullisForgetful(setting), jose(setting)]

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
  let [longest, last] = [0, performance.now()]
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

async function examine(tokens: HostileTokens, times: number): Promise<void> {
  const judgements = subjects.map((): Judgement[] => [])
  const rows: string[][] = []
  for (const [name, token] of tokens) {
    const row = [name, String(token.length)]
    for (const [index, subject] of subjects.entries()) {
      const judgement = await judge(subject, token, times)
      judgements[index]?.push(judgement)
      row.push(`${describe([judgement])}${judgement.isAccepted ? ', accepted' : ''}`)
    }
    rows.push(row)
  }
  const most = judgements.map((each) => {
    const all = each.flatMap(({ holdUps }) => holdUps)
    return quantile(all, 0.999).toFixed(2)
  })
  rows.push(['the worst of these', '', ...judgements.map(describe)])
  rows.push(['99.9 % held up at most', '', ...most])
  const header = ['Milliseconds: CPU / held up', 'octets', ...subjects.map(({ name }) => name)]
  console.log(`Each token ${times} times:\n\n${markdownTable(header, rows)}\n`)
}

function describe(judgements: readonly Judgement[]): string {
  const cpu = Math.max(...judgements.map((each) => each.cpu))
  const heldUp = Math.max(...judgements.map(({ holdUps }) => median(holdUps)))
  return `${cpu.toFixed(2)} / ${heldUp.toFixed(2)}`
}

await warmUp()
console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.\n`)
await examine([...longForgeries(signer), ...longGenuine(signer)], flags.quick ? 4 : 100)
await examine(hugeTokens(signer), flags.quick ? 1 : 5)
setting.keyServer.close()
