import { types } from 'node:util'

// Octets in a process that has two kinds of `Uint8Array`: with jsdom, a test runner replaces the global one, and Node's own objects
// (a Buffer, what a TextEncoder makes) are of the other. jose accepts those of the global one alone.

export function isOctets(value: unknown): value is Uint8Array {
  return types.isUint8Array(value)
}

/** A copy for jose; of a text in UTF-8. */
export function octetsOf(value: string | Uint8Array): Uint8Array {
  return new Uint8Array(typeof value === 'string' ? Buffer.from(value) : value)
}
