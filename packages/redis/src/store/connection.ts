import type { Clock } from '@portcullis/core'
import type { Instant } from '@portcullis/kit/time'

import { RevocationStoreError, storeError } from './errors.ts'
import { deadline } from './time.ts'

// Gives every command a deadline, and the number of waiting ones a limit, over any transport.

/** What talks to the server. The first command waits until it is connected. */
export interface Transport {
  send(command: readonly string[]): Promise<unknown>
  /** Ends it at once, whatever is under way. */
  readonly destroy: () => void
  /** Whether the server or the network has ended it: nothing can be sent any more. */
  hasEnded?(): boolean
  /** When sentinels were last asked that named this server. Without sentinels there is nobody to ask. */
  confirmedAt?(): Instant | undefined
}

/** So many commands wait for answers of one connection, at most: each of them takes memory. */
export const MOST_WAITING = 10_000

/** Seconds. Routers forget connections that rest, and say so to nobody: one that rested longer is not used again. */
export const LONGEST_REST = 30

/** Begins to connect. May throw. */
export type Connect = () => Transport

/** One connection. It is never repaired: after a failure it is closed, and another is opened. */
export interface Connection {
  /** @param timeout Of the answer, and of the connection if that is not made yet. Seconds. @throws RevocationStoreError */
  ask(command: readonly string[], timeout: number): Promise<unknown>
  /** Both as of a transport. */
  hasEnded(): boolean
  confirmedAt(): Instant | undefined
  close(): void
}

/**
 * Gives each answer a deadline of its own: a half-open connection is noticed by nothing else, since what is sent into it
 * counts as sent. Then the connection is destroyed, and all who wait for it are told.
 */
export function openConnection(connect: Connect, clock: Clock): Connection {
  const transport = started(connect)
  const waiting = new Set<(error: RevocationStoreError) => void>()
  let ended: RevocationStoreError | undefined

  function end(error: RevocationStoreError): void {
    if (ended !== undefined) return
    ended = error
    transport.destroy()
    for (const reject of waiting) reject(error)
  }

  return {
    async ask(command, timeout) {
      if (ended !== undefined) throw ended
      if (waiting.size >= MOST_WAITING) throw new RevocationStoreError('busy')
      const sent = transport.send(command)
      return await new Promise((resolve, reject) => {
        const cancel = deadline(clock, timeout, () => {
          end(new RevocationStoreError('timeout'))
        })
        function settle(): void {
          waiting.delete(fail)
          cancel()
        }
        function fail(error: RevocationStoreError): void {
          settle()
          reject(error)
        }
        waiting.add(fail)
        sent.then(
          (reply) => {
            if (!waiting.has(fail)) return
            settle()
            resolve(reply)
          },
          (error: unknown) => {
            if (waiting.has(fail)) fail(storeError(error))
          },
        )
      })
    },
    hasEnded: () => ended !== undefined || transport.hasEnded?.() === true,
    confirmedAt: () => transport.confirmedAt?.(),
    close() {
      end(new RevocationStoreError('closed'))
    },
  }
}

/** A transport that could not begin is one whose commands fail. */
export function started(connect: Connect): Transport {
  try {
    return connect()
  } catch (error) {
    const failure = storeError(error)
    return { send: async () => await Promise.reject(failure), destroy: () => undefined }
  }
}
