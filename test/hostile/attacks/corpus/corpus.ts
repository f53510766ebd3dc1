import { algorithm } from './algorithm.ts'
import { base64url } from './base64url.ts'
import { caches } from './caches.ts'
import { claims } from './claims.ts'
import { format } from './format.ts'
import { header } from './header.ts'
import { json } from './json.ts'
import { keyDocuments } from './key-documents.ts'
import { order } from './order.ts'
import type { Row } from './row.ts'
import { signature } from './signature.ts'
import { sizes } from './sizes.ts'
import { times } from './times.ts'
import { type TokenMaker } from './token-maker.ts'

/** Every class of hostile input, in the order in which a verifier meets them. */
export function corpusOf(maker: TokenMaker): Readonly<Record<string, readonly Row[]>> {
  return {
    format: format(maker),
    base64url: base64url(maker),
    JSON: json(maker),
    header: header(maker),
    algorithm: algorithm(maker),
    signature: signature(maker),
    claims: claims(maker),
    times: times(maker),
    sizes: sizes(maker),
    order: order(maker),
    'key documents': keyDocuments(maker),
    caches: caches(maker),
  }
}
