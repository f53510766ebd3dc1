import type { Inbox, Receipt } from './inbox.ts'
import { MAX_TAKEN, type TakenEvent, type Verdicts } from './polling.ts'
import { invalidEvent, type RefusedEvent } from './refused-event.ts'

// Takes the events of one answer of a transmitter in, a few at once.

const NO_TEXT = invalidEvent('The token is not a signed JWT')

/** How many events are taken in at once: one that hangs keeps no others waiting, and a store that hangs is called no more often. */
const AT_ONCE = 25

interface Taken {
  readonly verdicts: Verdicts
  readonly events: readonly TakenEvent[]
}

/** Takes the events of one answer in, until the poll is closed, or keys or store fail for all that were taken at once. */
export async function takeAll(
  inbox: Inbox,
  sets: ReadonlyMap<string, unknown>,
  closed: AbortSignal,
): Promise<Taken> {
  const ack: string[] = []
  const setErrs = new Map<string, RefusedEvent>()
  const events: TakenEvent[] = []
  const waiting = [...sets].slice(0, MAX_TAKEN)
  for (let at = 0; at < waiting.length && !closed.aborted; at += AT_ONCE) {
    const receipts = await Promise.all(
      waiting.slice(at, at + AT_ONCE).map(async ([name, token]) => {
        const isText = typeof token === 'string'
        return [name, isText ? await inbox.take(token, name) : inbox.refuse(NO_TEXT)] as const
      }),
    )
    for (const [name, receipt] of receipts) {
      if (receipt.outcome === 'accepted') ack.push(name)
      else if (receipt.outcome === 'refused') setErrs.set(name, receipt.refused)
      events.push({ name, became: wordFor(receipt) })
    }
    if (events.slice(at).every(({ became }) => became === 'failed')) break
  }
  return { verdicts: { ack, setErrs }, events }
}

function wordFor(receipt: Receipt): TakenEvent['became'] {
  if (receipt.outcome === 'accepted') return receipt.isRecorded ? 'recorded' : 'accepted'
  if (receipt.outcome === 'refused') return 'refused'
  return receipt.failed === 'event' ? 'unread' : 'failed'
}
