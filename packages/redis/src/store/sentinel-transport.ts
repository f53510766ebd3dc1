import type { Clock } from '@portcullis/core'
import { instant } from '@portcullis/kit/time'

import { type Connect, started, type Transport } from './connection.ts'
import { RevocationStoreError, storeError } from './errors.ts'
import {
  hasMoved,
  type Primary,
  primaryIn,
  primaryOf,
  type SentinelAnswer,
} from './sentinel-answers.ts'
import { deadline } from './time.ts'

// Finds the primary by its sentinels before it connects, and leaves it when they name another one. What answers mean is decided in
// `sentinel-answers.ts`.

/** How often sentinels are asked. Times are seconds. */
export interface SentinelPace {
  readonly clock: Clock
  /** Between two questions while a connection is used. */
  readonly interval: number
  /** How long answers are waited for, if no more than half have come. */
  readonly patience: number
  /** How long a connection is used without an answer of any. */
  readonly longestSilence: number
}

/** Hears what a sentinel tells on the channel `+switch-master`. @param onEnd It hears nothing any more. @returns Ends it. */
type Subscribe = (onMessage: (message: string) => void, onEnd: () => void) => () => void

export interface SentinelSettings extends SentinelPace {
  /** The name that the sentinels have for the primary. */
  readonly name: string
  readonly sentinels: readonly Connect[]
  /** The same, to be told of fail-overs. */
  readonly subscriptions: readonly Subscribe[]
  readonly open: (primary: Primary) => Transport
}

/**
 * A primary that was cut off from its sentinels goes on answering as one, and nothing else says that it is none any more. So they are
 * asked again and again while the connection is used, and at once when one of them tells of a fail-over. If none has answered for too
 * long, the connection ends: another server may be the primary.
 */
export function sentinelTransport(settings: SentinelSettings): Connect {
  const { open, clock, interval, longestSilence } = settings
  return () => {
    let confirmedAt = instant(clock)
    let known: Primary | undefined
    let question = ask(settings)
    let transport: Transport | undefined
    let cancelWatch: (() => void) | undefined
    let ended: RevocationStoreError | undefined
    let looking: Promise<void> | undefined
    const news = createNews(settings, () => {
      // If they are being asked already, the answer tells.
      if (known !== undefined && looking === undefined) void look(known)
    })

    async function connect(): Promise<Transport> {
      known = await question.found
      const opened = open(known)
      transport = opened
      watch(known)
      return opened
    }

    function watch(primary: Primary): void {
      news.listen()
      cancelWatch = clock.after(interval, () => {
        void look(primary)
      })
    }

    /** One question at a time. */
    async function look(primary: Primary): Promise<void> {
      cancelWatch?.()
      looking ??= lookOnce(primary).finally(() => {
        looking = undefined
      })
      await looking
    }

    async function lookOnce(primary: Primary): Promise<void> {
      const askedAt = instant(clock)
      question = ask(settings, primary)
      const found = await question.found.catch(() => undefined)
      if (ended !== undefined) return
      if (found !== undefined) confirmedAt = askedAt
      if (found !== undefined && hasMoved(primary, found)) end(unreachable(MOVED))
      else if (isSilent()) end(unreachable(SILENT))
      else watch(primary)
    }

    /** Whether nobody has confirmed for too long that this is the primary. */
    function isSilent(): boolean {
      return clock.monotonic() - confirmedAt.monotonic > longestSilence
    }

    function end(error: RevocationStoreError): void {
      if (ended !== undefined) return
      ended = error
      cancelWatch?.()
      news.end()
      question.end()
      transport?.destroy()
    }

    const connecting = connect()
    // Whoever sends is told.
    connecting.catch(() => undefined)
    return {
      async send(command) {
        try {
          const connected = await connecting
          // A process that was busy may only have had no time to ask.
          if (known !== undefined && ended === undefined && isSilent()) await look(known)
          if (ended !== undefined) throw ended
          return await connected.send(command)
        } catch (error) {
          throw ended ?? error
        }
      },
      confirmedAt: () => confirmedAt,
      hasEnded: () => ended !== undefined || transport?.hasEnded?.() === true,
      destroy() {
        end(new RevocationStoreError('closed'))
      },
    }
  }
}

/** What sentinels tell by themselves. A connection that has ended is replaced when the others are asked the next time. */
function createNews(
  { name, subscriptions }: SentinelSettings,
  onMove: () => void,
): { listen(): void; end(): void } {
  const open = new Map<Subscribe, () => void>()
  return {
    listen() {
      for (const subscribe of subscriptions) {
        if (open.has(subscribe)) continue
        const close = subscribe(
          (message) => {
            if (message.startsWith(`${name} `)) onMove()
          },
          () => open.delete(subscribe),
        )
        open.set(subscribe, close)
      }
    },
    end() {
      for (const close of open.values()) close()
      open.clear()
    },
  }
}

const SILENT = 'no sentinel has answered for too long'
const MOVED = 'the sentinels name another primary'

function unreachable(detail: string): RevocationStoreError {
  return new RevocationStoreError('unreachable', detail)
}

interface AskedSentinels {
  readonly found: Promise<Primary>
  /** Nobody waits for the answer any more. */
  end(): void
}

function ask(
  { name, sentinels, clock, patience }: SentinelSettings,
  known?: Primary,
): AskedSentinels {
  const transports = sentinels.map((connect) => started(connect))
  const answers: SentinelAnswer[] = []
  let settle: ((answer: SentinelAnswer | 'wait') => void) | undefined
  const found = new Promise<Primary>((resolve, reject) => {
    settle = (answer) => {
      if (answer === 'wait') return
      settle = undefined
      cancel()
      for (const transport of transports) transport.destroy()
      if (answer instanceof RevocationStoreError) reject(answer)
      else resolve(answer)
    }
  })
  const cancel = deadline(clock, patience, () => {
    settle?.(primaryOf(answers, sentinels.length, true, known))
  })
  for (const transport of transports) {
    void answerOf(transport, name).then((answer) => {
      answers.push(answer)
      settle?.(primaryOf(answers, sentinels.length, false, known))
    })
  }
  return { found, end: () => settle?.(new RevocationStoreError('closed')) }
}

async function answerOf(transport: Transport, name: string): Promise<SentinelAnswer> {
  try {
    return primaryIn(await transport.send(['SENTINEL', 'MASTER', name]))
  } catch (error) {
    const known = storeError(error)
    // What a sentinel says that has no such name.
    if (known.detail !== 'ERR') return known
    return new RevocationStoreError('refused', 'no sentinel knows a primary of that name')
  }
}
