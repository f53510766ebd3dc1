import { authenticateRequest, createVerifier, getAuth } from '@portcullis/core'
import { refusalResponse, remoteKeys } from '@portcullis/core'

import { savedKeys } from './saved-keys.ts'

// A function of a platform that starts it anew all day, with the keys that save-keys.ts has saved.

const { AUTH_URL = 'http://127.0.0.1:4010', KEYS_FILE = 'keys.json' } = process.env

const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`, { snapshot: savedKeys(KEYS_FILE) })
// The tokens of this service have neither `iss` nor `aud`
const verifier = createVerifier({ keys, issuer: null, audience: null })
let firstRefresh: Promise<void> | undefined

/** What some platforms give a function: they stop it once it has answered, unless there is something to wait for. */
interface Context {
  waitUntil(work: Promise<unknown>): void
}

export async function handler(request: Request, context?: Context): Promise<Response> {
  // The first request would cause this anyway. Here it can be waited for. If it fails, later requests try again.
  firstRefresh ??= keys.refresh().catch(() => {})
  context?.waitUntil(firstRefresh)
  try {
    await authenticateRequest(verifier, request)
  } catch (error) {
    return refusalResponse(error) // throws what is no refusal
  }
  return Response.json({ savedBy: getAuth(request).claims.sub })
}
