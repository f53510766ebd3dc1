import { env } from 'node:process'
import { debuglog } from 'node:util'

import type { Auth } from '@portcullis/core'

// What is told of a session that was refused: a line for NODE_DEBUG=portcullis, and the function of the user's.

interface RefusedSession {
  readonly auth: Auth<unknown>
  readonly subject: object
  readonly onForeignSession: ((auth: Auth<unknown>, subject: never) => unknown) | undefined
}

const log = debuglog('portcullis')

export function reportSession(status: 'other' | 'unknown', refused: RefusedSession): void {
  // Cloudflare Workers enable every log, whatever the variable says.
  if (log.enabled && (env['NODE_DEBUG'] ?? '') !== '') {
    log('%s', `mcp: 404 ${status === 'other' ? 'session of another user' : 'unknown session'}`)
  }
  if (status === 'other') void tell(refused)
}

/** Its own failure changes no answer. */
async function tell({ auth, subject, onForeignSession }: RefusedSession): Promise<void> {
  try {
    // The endpoint with this function was given this subject.
    await onForeignSession?.(auth, subject as never)
  } catch (fault) {
    process.emitWarning(fault instanceof Error ? fault : 'onForeignSession failed')
  }
}
