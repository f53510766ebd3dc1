import { debug, isDebugging } from '@portcullis/kit/report'

import type { LoadTrigger } from './diagnostics.ts'
import type { RedisRevocationsStatus } from './status.ts'
import { whyUnknown } from './why-unknown.ts'

// What `NODE_DEBUG=portcullis` prints of a replica.

/** One line for each time that the whole stream was read. @param seconds How long that took. */
export function logLoad(trigger: LoadTrigger, records: number, seconds: number): void {
  debug(() => {
    const took = `${(seconds * 1000).toFixed(1)} ms`
    return `revocations: read the whole stream (${trigger}): ${records} records in ${took}`
  })
}

/** Prints with NODE_DEBUG=portcullis one line each time that the state of a replica changes, or why it is not `current`. */
export function createStateLog(): (statusNow: () => RedisRevocationsStatus) => void {
  let last: string | undefined
  return (statusNow) => {
    if (!isDebugging()) return
    const status = statusNow()
    const { state, failures, lastFailure } = status
    const why = whyUnknown(status)
    const current = why === undefined || failures === 0 ? state : `${state} ${lastFailure?.detail}`
    if (current === last) return
    last = current
    debug(() => `revocations: ${state}${why === undefined ? '' : `: ${why}`}`)
  }
}
