import { createClosing } from '../waiting/abort.ts'
import { createClient } from './client.ts'
import { checkTokenClientOptions, type TokenClientOptions } from './options.ts'
import type { TokenClient } from './token-client.ts'

// Makes a client that logs in at the token service.

/**
 * Creates the client of one account. It sends nothing before the first use.
 *
 * @throws TypeError for a wrong, misspelt or missing option.
 */
export function createTokenClient(options: TokenClientOptions): TokenClient {
  const { origins, ...plan } = checkTokenClientOptions(options)
  return createClient({ origins, plan, closing: createClosing() })
}
