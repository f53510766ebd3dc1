import type { Clock } from '@portcullis/core'
import { failurePauseEnd } from '@portcullis/kit/pace'

import type { Stream } from './stream-configuration.ts'
import type { Transmission } from './stream-events.ts'
import type { Management } from './stream-management.ts'
import { firstOf, leftovers, settle } from './stream-settling.ts'
import { CLOSED, TransmitterError } from './transmitter-error.ts'
import { pause } from './until-closed.ts'

// Keeps one stream at a transmitter: looks for it, creates and updates it, and looks again for as long as it is open.

/** Seconds between two looks: a stream may end at the transmitter, by its administrator or for want of calls. */
const INTERVAL = 300
/** Seconds until the second look, after one that has found more than one stream, or whose update is not yet carried out. */
const SOON = 30

interface KeeperState {
  readonly stream: Stream | undefined
  /** Streams of ours that were found beside it. */
  readonly seen: ReadonlySet<string>
  readonly failures: number
  readonly lastFailure: string | undefined
}

export interface Keeper {
  state(): KeeperState
  /** Resolves when the stream is open; rejects with why the attempt that is under way, or else the next one, has failed. */
  ready(): Promise<void>
  /** Looks until it is closed. Never rejects. */
  run(): Promise<void>
}

export interface KeeperParts {
  readonly clock: Clock
  readonly closed: AbortSignal
  /** Reads the metadata anew, if they are not known or an attempt has failed since. */
  readonly manage: (isAnew: boolean) => Promise<Management>
  /** Is told of the stream after each look. @throws TransmitterError if it cannot be used. */
  readonly onStream: (stream: Stream) => Promise<void>
  readonly onStatus: (status: Transmission | undefined) => void
}

export function createKeeper(parts: KeeperParts): Keeper {
  const { clock, closed, manage, onStream, onStatus } = parts
  const waiting = new Set<(failure: Error | undefined) => void>()
  let state: KeeperState = {
    stream: undefined,
    seen: new Set(),
    failures: 0,
    lastFailure: undefined,
  }

  async function pauseFor(seconds: number): Promise<void> {
    await pause(seconds, clock, closed)
  }

  async function look(): Promise<void> {
    const management = await manage(state.failures > 0)
    const streams = await management.list()
    const { remove, seen } = leftovers(streams, state.seen)
    for (const id of remove) await management.remove(id)
    const found = firstOf(streams) ?? (await settle({ ...management, pause: pauseFor }))
    const stream = await updated(management, found, state.stream)
    await onStream(stream)
    state = { ...state, stream, seen }
    onStatus(await management.readStatus(stream.id))
  }

  /** @returns Seconds until the next one. */
  async function attempt(): Promise<number> {
    const startedAt = clock.monotonic()
    try {
      await look()
      state = { ...state, failures: 0, lastFailure: undefined }
      settleWaiting(undefined)
      return untilNext(state)
    } catch (error) {
      const failure = error instanceof TransmitterError ? error : new TransmitterError(UNKNOWN)
      const failures = state.failures + 1
      state = { ...state, failures, lastFailure: failure.message }
      settleWaiting(failure)
      const settledAt = clock.monotonic()
      const times = { startedAt, settledAt }
      const end = failurePauseEnd(failures, times, failure.retryAfter ?? 0, Math.random())
      return end - settledAt
    }
  }

  function settleWaiting(failure: Error | undefined): void {
    for (const each of waiting) each(failure)
    waiting.clear()
  }

  return {
    state: () => state,
    async ready() {
      if (closed.aborted) throw new TransmitterError(CLOSED)
      if (state.stream !== undefined && state.failures === 0) return
      await new Promise<void>((resolve, reject) => {
        waiting.add((failure) => {
          if (failure === undefined) resolve()
          else reject(failure)
        })
      })
    },
    async run() {
      while (!closed.aborted) {
        const seconds = await attempt()
        await pauseFor(seconds)
      }
      settleWaiting(new TransmitterError(CLOSED))
    },
  }
}

const UNKNOWN = 'the stream could not be kept'

/**
 * A stream that is found is updated once by each process, and not at each look: two versions of an application would undo each other's
 * update for ever. One that is not yet carried out (202) is asked for again.
 */
async function updated(
  management: Management,
  found: Stream,
  known: Stream | undefined,
): Promise<Stream> {
  const isKnown = known?.id === found.id && known.isAsWanted
  if (isKnown || found.isAsWanted) return { ...found, isAsWanted: true }
  return (await management.update(found.id)) ?? found
}

function untilNext({ stream, seen }: KeeperState): number {
  if (seen.size > 0 || stream?.isAsWanted !== true) return SOON
  const { inactivityTimeout = Infinity } = stream
  return Math.max(1, Math.min(INTERVAL, inactivityTimeout / 2))
}
