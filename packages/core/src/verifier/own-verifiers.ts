/** What is known of a verifier of ours, beside its methods. */
export interface OwnVerifier {
  /** Whether the tokens that it accepts with this `iss` are from an issuer that it was told to accept. */
  checksIssuer(issuer: string): boolean
  /** Octets. */
  readonly maxTokenSize: number
}

/** By the function `verify` itself, so that what wraps or replaces it is not taken for it. */
const facts = new WeakMap<object, OwnVerifier>()

export function setOwnVerifier(verify: object, known: OwnVerifier): void {
  facts.set(verify, known)
}

/** Of the `verify` that this verifier has at this moment; `undefined` if it is not ours. */
export function findOwnVerifier({ verify }: { readonly verify: object }): OwnVerifier | undefined {
  return facts.get(verify)
}
