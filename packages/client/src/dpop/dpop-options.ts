// The option `dpop`: its type and its default.

export interface DpopOptions {
  /**
   * What proofs are signed with.
   * @default 'ES256'
   */
  algorithm?: 'ES256' | 'ES384' | 'Ed25519' | 'PS256' | 'RS256' | undefined
}

export type DpopAlgorithm = NonNullable<DpopOptions['algorithm']>

/** Reads an own member alone: a polluted `Object.prototype` must not set it. */
export function dpopAlgorithm(dpop: true | DpopOptions): DpopAlgorithm {
  const isStated = dpop !== true && Object.hasOwn(dpop, 'algorithm')
  return (isStated ? dpop.algorithm : undefined) ?? 'ES256'
}
