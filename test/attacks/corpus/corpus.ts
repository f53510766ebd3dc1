import { algorithm } from './algorithm.ts'
import { base64url } from './base64url.ts'
import { caches } from './caches.ts'
import { claims } from './claims.ts'
import { type Forge } from './forge.ts'
import { format } from './format.ts'
import { header } from './header.ts'
import { json } from './json.ts'
import { keyDocuments } from './key-documents.ts'
import { order } from './order.ts'
import type { Row } from './row.ts'
import { signature } from './signature.ts'
import { sizes } from './sizes.ts'
import { times } from './times.ts'

/** Every class of hostile input, in the order in which a verifier meets them. */
export function corpusOf(forge: Forge): Readonly<Record<string, readonly Row[]>> {
  return {
    format: format(forge),
    base64url: base64url(forge),
    JSON: json(forge),
    header: header(forge),
    algorithm: algorithm(forge),
    signature: signature(forge),
    claims: claims(forge),
    times: times(forge),
    sizes: sizes(forge),
    order: order(forge),
    'key documents': keyDocuments(forge),
    caches: caches(forge),
  }
}
