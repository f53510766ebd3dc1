import type { Clock } from '@portcullis/kit/time'
import { eventTransmitter, type TestIssuer } from '@portcullis/testing'

import type { Fetch } from '../surroundings/surroundings.ts'
import { InputError } from './input.ts'
import type { LogoutInput } from './requests.ts'

// Tells an API that a session has ended, as a provider does: by a log-out token.

/** Seconds. */
const TIMEOUT = 10

/**
 * Sends a log-out token.
 *
 * @returns The status of the answer, or nothing if there was none in time.
 * @throws InputError for an address that is none, and for an issuer without a name.
 */
export async function sendLogout(
  issuer: TestIssuer,
  { url, clientId, sub, sid }: LogoutInput,
  { clock, fetch }: { readonly clock: Clock; readonly fetch: Fetch },
): Promise<number | undefined> {
  if (issuer.verifierOptions.issuer === null) {
    throw new InputError('a log-out token must have an issuer: start serve with --issuer')
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new InputError('the url must begin with http: or https:')
  }
  const end = new AbortController()
  const transmitter = eventTransmitter(issuer, {
    audience: clientId,
    fetch: async (target, init) =>
      await fetch(target, { ...init, redirect: 'manual', signal: end.signal }),
  })
  const token = await transmitter.logoutToken({ sub, sid })
  const cancel = clock.after(TIMEOUT, () => {
    end.abort()
  })
  try {
    const { status, body } = await transmitter.sendLogout(url, token)
    await body?.cancel()
    return status
  } catch {
    // Whatever is wrong there: the log says that nothing was answered.
    return undefined
  } finally {
    cancel()
  }
}
