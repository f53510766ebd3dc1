import { RevocationStoreError } from './errors.ts'
import { pairsIn, unreadable } from './stream-replies.ts'

// Which server is the primary, by what sentinels say: pure functions.

export interface Primary {
  readonly host: string
  readonly port: number
  /** `config-epoch`: each fail-over makes it larger. */
  readonly epoch: number
}

export type SentinelAnswer = Primary | RevocationStoreError

/** Reads the reply to `SENTINEL MASTER`. */
export function primaryIn(reply: unknown): Primary {
  const found = pairsIn(reply)
  const host = found.get('ip')
  const [port, epoch] = [numberIn(found.get('port')), numberIn(found.get('config-epoch'))]
  const isHost = typeof host === 'string' && /^[\w.:%-]{1,255}$/.test(host)
  if (!isHost || port === undefined || port < 1 || port > 65_535) return unreadable()
  return epoch === undefined ? unreadable() : { host, port, epoch }
}

function numberIn(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/**
 * The primary, why none is known, or to wait. More than half of the sentinels agree to each fail-over, so the newest of so many answers is
 * enough. They may name one server in two ways: so without a fail-over the `known` one stays as long as any of them names it.
 *
 * @param isLate Whether nobody waits any longer: then fewer must do.
 */
export function primaryOf(
  answers: readonly SentinelAnswer[],
  asked: number,
  isLate: boolean,
  known?: Primary,
): SentinelAnswer | 'wait' {
  const named = answers.filter(isPrimary)
  const isLast = isLate || answers.length === asked
  if (!isLast && named.length * 2 <= asked) return 'wait'
  const [first, ...others] = named
  if (first !== undefined) {
    const best = others.reduce((newest, each) => (each.epoch > newest.epoch ? each : newest), first)
    if (known === undefined || best.epoch !== known.epoch) return best
    if (named.some((each) => !hasMoved(known, each) && each.epoch === known.epoch)) return known
    return isLast ? best : 'wait'
  }
  // One that answers knows more than one that cannot be reached.
  const errors = answers.filter((answer) => answer instanceof RevocationStoreError)
  const silent = new RevocationStoreError('timeout', 'no sentinel answered')
  return errors.find(({ reason }) => reason === 'refused') ?? errors[0] ?? silent
}

function isPrimary(answer: SentinelAnswer): answer is Primary {
  return !(answer instanceof RevocationStoreError)
}

/** Whether a connection to a primary should be left. An answer from before a fail-over is no reason. */
export function hasMoved(known: Primary, found: Primary): boolean {
  return found.epoch >= known.epoch && (found.host !== known.host || found.port !== known.port)
}
