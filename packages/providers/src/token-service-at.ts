import { remoteKeys, type RemoteKeysOptions } from '@portcullis/core'

import { isUrl } from './options.ts'
import type { Preset } from './preset.ts'

// Tokens of the token service that this family of packages was made for.

/**
 * Options of `createVerifier` for the token service: its keys are at `/tokenservice/pubkey.json`.
 *
 * Its tokens name neither an issuer nor an audience, so both are NOT checked. State them beside these options if yours do.
 *
 * @param authUrl The base URL of the token service, such as `https://auth.example.com`.
 * @throws TypeError for a URL that is neither https nor on this machine, and for a wrong option.
 */
export function tokenServiceAt(authUrl: string, keysOptions: RemoteKeysOptions = {}): Preset {
  const complaint = isUrl('https://auth.example.com')(authUrl)
  if (complaint !== undefined) throw new TypeError(`tokenServiceAt: authUrl ${complaint}`)
  return {
    keys: remoteKeys(`${authUrl}/tokenservice/pubkey.json`, keysOptions),
    issuer: null,
    audience: null,
  }
}
