import { turnsThrough } from './inputs.ts'
import { accepting, acceptingAtOnce, costOf, mainThread, measure, ratioOf } from './measure.ts'
import { describeMachine, flags, planOf } from './report.ts'
import { isThere, KINDS, type SignatureKind } from './signature-kinds.ts'
import { bareSync, createSetting, jose, portcullis } from './subjects.ts'
import { printTable } from './table.ts'

// What one verification costs with other algorithms and keys than those of micro.ts: `pnpm bench algorithms`.
//
// More tokens than any cache here holds (1,000 each) are taken in turn.

const TOKENS = flags.quick ? 1088 : 1280
const PLAN = planOf({ rounds: 7, milliseconds: 50, warmUp: 100 })

async function measureKind(kind: SignatureKind): Promise<void> {
  const setting = await createSetting(kind)
  const bare = bareSync(setting)
  const subjects = [bare, portcullis(setting), jose(setting)]
  const turns = turnsThrough(setting.signer.tokens(TOKENS))
  const alone = await measure(subjects, (each) => accepting(turns())(each), PLAN)
  const atOnce = await measure(subjects, (each) => acceptingAtOnce(turns())(each), PLAN)
  setting.keyServer.close()
  printTable(
    `${kind.name}:`,
    [
      ['Verifier', ({ name }) => name],
      ['new token, one at a time', (each) => ratioOf(alone, each, bare)],
      ['new, 64 at once', (each) => ratioOf(atOnce, each, bare)],
      ['of which main thread', (each) => ratioOf(atOnce, each, bare, 'main')],
      ['new: µs', (each) => costOf(alone, each)],
    ],
    subjects,
  )
}

console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.`)
console.log(`Least of ${PLAN.rounds} interleaved rounds; times of the bare synchronous call.\n`)
for (const kind of Object.values(KINDS).filter(isThere)) await measureKind(kind)
