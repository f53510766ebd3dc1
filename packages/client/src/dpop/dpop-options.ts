import { DPOP_ALGORITHMS } from './dpop-key.ts'

// The option `dpop`: its forms, its check, its default.

export interface DpopOptions {
  /**
   * What proofs are signed with.
   * @default 'ES256'
   */
  algorithm?: 'ES256' | 'ES384' | 'Ed25519' | 'PS256' | 'RS256' | undefined
}

export type DpopAlgorithm = NonNullable<DpopOptions['algorithm']>

export const DPOP_FORMS: string = `true, false or { algorithm }, which is one of ${DPOP_ALGORITHMS.join(', ')}`

export function isDpop(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return (
    Object.keys(value).every((name) => name === 'algorithm') &&
    DPOP_ALGORITHMS.includes(dpopAlgorithm(value))
  )
}

/** Reads an own member alone: a polluted `Object.prototype` must not set it. */
export function dpopAlgorithm(dpop: true | DpopOptions): DpopAlgorithm {
  const isStated = dpop !== true && Object.hasOwn(dpop, 'algorithm')
  return (isStated ? dpop.algorithm : undefined) ?? 'ES256'
}
