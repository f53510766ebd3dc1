import { debuglog } from 'node:util'

import type { RedisRevocationsStatus } from './status.ts'
import { whyUnknown } from './why-unknown.ts'

// What `NODE_DEBUG=portcullis` prints of a replica.

const log = debuglog('portcullis')

/** Prints with NODE_DEBUG=portcullis one line each time that the state of a replica changes, or why it is not `current`. */
export function createStateLog(): (statusNow: () => RedisRevocationsStatus) => void {
  let last: string | undefined
  return (statusNow) => {
    if (!log.enabled) return
    const status = statusNow()
    const { state, failures, lastFailure } = status
    const why = whyUnknown(status)
    const current = why === undefined || failures === 0 ? state : `${state} ${lastFailure?.detail}`
    if (current === last) return
    last = current
    log('%s', `revocations: ${state}${why === undefined ? '' : `: ${why}`}`)
  }
}
