import type { Auth } from '@portcullis/core'
import { callListener, debug } from '@portcullis/kit/report'

// What is told of sessions: of one that was refused, in a line for NODE_DEBUG=portcullis, and to the functions of the user's.

interface RefusedSession {
  readonly auth: Auth<unknown>
  readonly subject: object
  readonly onForeignSession: ((auth: Auth<unknown>, subject: never) => unknown) | undefined
}

export function reportSession(status: 'other' | 'unknown', refused: RefusedSession): void {
  debug(() => `mcp: 404 ${status === 'other' ? 'session of another user' : 'unknown session'}`)
  const { auth, subject, onForeignSession } = refused
  // The endpoint with this function was given this subject.
  if (status === 'other') {
    void callListener('onForeignSession', () => onForeignSession?.(auth, subject as never))
  }
}
