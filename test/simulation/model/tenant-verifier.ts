import type { Auth, Verifier } from '@portcullis/core'
import type { ManualClock } from '@portcullis/testing'

import { setInternals } from '../../../packages/core/src/verifier/internals.ts'
import { NO_WATCH } from '../../../packages/core/src/verifier/revocation-watch.ts'
import type { TenantWorld } from './tenants.ts'

// The verifiers of tenants.ts, and the tokens that they accept.

/** How long a slow verifier takes. */
export const JUDGING = 3

/** A verifier whose verdicts need no signature, so that virtual time is all the time there is. */
export function judgeOf(
  issuer: string,
  version: number,
  world: Pick<TenantWorld, 'clock' | 'isSlowToJudge' | 'refusal'>,
): Verifier {
  const remembered = new Map<string, Auth>()
  async function verify(token: string, options?: { signal?: AbortSignal | undefined }) {
    if (world.isSlowToJudge && !remembered.has(token)) await waitFor(world.clock, JUDGING)
    options?.signal?.throwIfAborted()
    const [, payload = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    if ('forged' in claims) throw new world.refusal('invalid_token', 'signature')
    const auth: Auth = { token, header: { alg: 'RS512' }, claims: { ...claims, version } }
    remembered.set(token, auth)
    return auth
  }
  setInternals(verify, {
    checksIssuer: (name) => name === issuer,
    audiences: [null],
    maxTokenSize: 16_384,
    recall: (token) => remembered.get(token),
    watch: () => NO_WATCH,
  })
  return { verify, ready: async () => {} }
}

export function tokenOf(iss: string, serial: number, isForged: boolean): string {
  const claims = { iss, serial, ...(isForged ? { forged: true } : {}) }
  return `${encode({ alg: 'RS512' })}.${encode(claims)}.AAAA`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

export async function waitFor(clock: ManualClock, seconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(seconds, resolve)
  })
}
