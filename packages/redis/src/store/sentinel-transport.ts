import type { Clock } from '@portcullis/core'

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
}

export interface SentinelSettings extends SentinelPace {
  /** The name that the sentinels have for the primary. */
  readonly name: string
  readonly sentinels: readonly Connect[]
  readonly open: (primary: Primary) => Transport
}

/**
 * A primary that was cut off from its sentinels goes on answering as one, and nothing else says that it is none any more: so they
 * are asked again and again while the connection is used. If none answers, the connection stays as it is.
 */
export function sentinelTransport(settings: SentinelSettings): Connect {
  const { open, clock, interval } = settings
  return () => {
    let question = ask(settings)
    let transport: Transport | undefined
    let cancelWatch: (() => void) | undefined
    let ended: RevocationStoreError | undefined

    async function connect(): Promise<Transport> {
      const primary = await question.found
      const opened = open(primary)
      transport = opened
      watch(primary)
      return opened
    }

    function watch(known: Primary): void {
      cancelWatch = clock.after(interval, () => {
        void look(known)
      })
    }

    async function look(known: Primary): Promise<void> {
      question = ask(settings, known)
      const found = await question.found.catch(() => known)
      if (ended !== undefined) return
      if (hasMoved(known, found)) end(new RevocationStoreError('unreachable', MOVED))
      else watch(known)
    }

    function end(error: RevocationStoreError): void {
      if (ended !== undefined) return
      ended = error
      cancelWatch?.()
      question.end()
      transport?.destroy()
    }

    const connecting = connect()
    // Whoever sends is told.
    connecting.catch(() => undefined)
    return {
      async send(command) {
        try {
          return await (await connecting).send(command)
        } catch (error) {
          throw ended ?? error
        }
      },
      destroy() {
        end(new RevocationStoreError('closed'))
      },
    }
  }
}

const MOVED = 'the sentinels name another primary'

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
