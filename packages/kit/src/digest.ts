import * as crypto from 'node:crypto'

// The digest by which texts are compared or remembered.

/** In one call, which costs a third less, where the platform has it: Node 20.12. */
const { hash } = crypto

/** SHA-256, in base64url. */
export function sha256(data: string | Uint8Array): string {
  return typeof hash === 'function'
    ? hash('sha256', data, 'base64url')
    : crypto.createHash('sha256').update(data).digest('base64url')
}
