import type { Rules } from './judges.ts'
import { NOW, signers } from './signers.ts'

export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'https://api.example'
export const TYPE = 'at+jwt'
const MAX_TOKEN_AGE = 300

export const strict: Rules = {
  now: NOW,
  algorithms: signers.map(({ alg }) => alg),
  issuer: ISSUER,
  audience: [AUDIENCE, 'second audience'],
  requiredClaims: undefined,
  type: undefined,
  maxTokenAge: undefined,
  remember: true,
}

/** Each key says what it is for. */
export const unlisted: Rules = { ...strict, algorithms: undefined }
export const lax: Rules = { ...strict, issuer: null, audience: null, remember: false }
/** An audience that may be missing, and must fit where it stands. */
export const addressed: Rules = { ...strict, audience: [AUDIENCE, 'second audience', null] }
export const typed: Rules = {
  ...strict,
  requiredClaims: ['sub'],
  type: TYPE,
  maxTokenAge: MAX_TOKEN_AGE,
}
export const narrow: Rules = { ...strict, algorithms: ['RS512'] }
export const betweenSeconds: Rules = { ...strict, now: NOW + 0.5, remember: false }
