import type { Routes } from '@portcullis/testing'

import { KEY_PATH } from '../keys/key-choice.ts'
import { foreignHost } from './gate.ts'

// Protects logins against web pages whose name points to this machine (DNS rebinding).

/**
 * Refuses what comes under a foreign name to the token service itself, as the control interface does: a page whose name points
 * to this machine could log in, and read the token. The key document is for all.
 *
 * @param secret As for the gate: where others can reach the service, it has names that it does not know.
 */
export function createHostCheck(secret: string | undefined): Routes {
  return (request) => {
    if (new URL(request.url).pathname === KEY_PATH) return undefined
    const denial = foreignHost(request, secret)
    return denial && Response.json({ error: denial.error }, { status: denial.status })
  }
}
