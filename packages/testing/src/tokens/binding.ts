import { hash, type X509Certificate } from 'node:crypto'

import type { Possession } from '@portcullis/core'
import { type OptionCheck, isText } from '@portcullis/kit/options'

import { isOctets } from '../octets.ts'

// What a token is bound to, and the claim `cnf` that says it.

/**
 * What a token is bound to: a client's certificate, or thumbprints as `verify` takes them in `possession`. What `dpopClient()`
 * returns has a `jkt`.
 */
export type Binding = Possession | X509Certificate

/** The claim `cnf` (RFC 7800); `undefined` for a token that is not bound. */
export function confirmationOf(
  boundTo: Binding | readonly Binding[] | undefined,
): Readonly<Record<string, string>> | undefined {
  if (boundTo === undefined) return undefined
  const all = [boundTo].flat()
  return Object.fromEntries(all.flatMap((binding) => membersOf(binding)))
}

function membersOf(binding: Binding): readonly (readonly [name: string, thumbprint: string])[] {
  if ('raw' in binding) return [['x5t#S256', hash('sha256', binding.raw, 'base64url')]]
  const { jkt, x5tS256 } = binding
  return [
    ...(jkt === undefined ? [] : [['jkt', jkt] as const]),
    ...(x5tS256 === undefined ? [] : [['x5t#S256', x5tS256] as const]),
  ]
}

export const isBinding: OptionCheck = (value) => {
  const all: readonly unknown[] = [value].flat()
  return all.length > 0 && all.every(isOneBinding)
    ? undefined
    : 'must be what dpopClient() returned, an X509Certificate, { jkt, x5tS256 }, or a list of these'
}

function isOneBinding(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const raw: unknown = Reflect.get(value, 'raw')
  if (raw !== undefined) return isOctets(raw)
  const thumbprints = [Reflect.get(value, 'jkt'), Reflect.get(value, 'x5tS256')].filter(
    (each: unknown) => each !== undefined,
  )
  return thumbprints.length > 0 && thumbprints.every((each) => isText(each) === undefined)
}
