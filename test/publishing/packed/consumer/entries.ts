import {
  AuthError,
  type Claims,
  createVerifier,
  type Header,
  type KeySource,
  remoteKeys,
  type Verifier,
  type VerifierOptions,
} from '@portcullis/core'
import { checkGuardOptions, proverOf, signedClaims } from '@portcullis/core/adapter'
import { adviceOn, explain, type Explanation, type NamedKeys } from '@portcullis/core/explain'
import {
  type Claims as ClaimsOfVerifier,
  createSelectedVerifier,
  createUnobservedVerifier,
  type Header as HeaderOfVerifier,
  type TokenProver,
} from '@portcullis/core/verifier'

// What an entry of core makes is what another takes: a class with a private member, and an interface with a symbol of its own, are
// the same type only if they are declared once. So this is compiled, and need not run.

export async function cross(token: string): Promise<AuthError | undefined> {
  const keys: KeySource = remoteKeys('https://login.example/pubkey.json')
  const options: VerifierOptions = { issuer: 'https://login.example', audience: 'api', keys }
  const known: readonly NamedKeys[] = [{ name: 'other', keys }]
  const { refusal }: Explanation = await explain(token, options, {
    otherKeys: known,
    keysInHand: keys,
  })
  const made: Verifier = createVerifier(options)
  const unobserved: Verifier = createUnobservedVerifier(options)
  const selected: Verifier = createSelectedVerifier([made, unobserved], () => made)
  const prover: object | string = proverOf(selected, token)
  checkGuardOptions(selected, { credentials: { header: 'x-token' } })
  const proven: TokenProver['late'] = () => new AuthError('keys_unavailable', 'timeout')
  const late: AuthError = proven()
  const { claims, header } = await selected.verify(token)
  const both: readonly [ClaimsOfVerifier, HeaderOfVerifier] = [claims, header]
  const again: readonly [Claims, Header] = both
  signedClaims({ token, claims: again[0], header: again[1] })
  const refused: AuthError = typeof prover === 'string' ? late : (refusal ?? late)
  return adviceOn({ refusal: refused, hints: [] }) === undefined ? undefined : refused
}
