import type { TestIssuer } from './issuer.ts'
import { backendOf } from './service/backend.ts'
import { serviceOf, type TokenService } from './service/emulation.ts'
import type { TokenServiceOptions } from './service/endpoints.ts'

// The public way to a further token service of an issuer, such as one with other logins.

/**
 * Makes a token service as tests need it: `POST` with `loginId` and `password` as a form for a token, and `GET` for the key.
 * All services of one issuer share its keys, its outages and its log of requests.
 *
 * @throws TypeError for a wrong or misspelt option.
 */
export function tokenService(issuer: TestIssuer, options: TokenServiceOptions = {}): TokenService {
  return serviceOf(backendOf('tokenService', issuer), options)
}
