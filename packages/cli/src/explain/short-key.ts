import { constants, type KeyObject, verify } from 'node:crypto'

import { memberOf, partOf } from '../input/unread-json.ts'
import { publicKeysIn } from './public-key-mac.ts'

// Recognises a signature of an RSA key that is too short, so that `explain` can name the reason.

const LEAST_BITS = 2048
/** Bits of the short keys that there are. Another length of a signature means that the token was cut. */
const SHORT_KEYS: ReadonlySet<number> = new Set([512, 768, 1024, 1536])

/** Decides nothing: core takes no such key. It only names the reason. RFC 7518 section 3.3. */
export function findShortKey(token: string, document: string | undefined) {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const scheme = SCHEMES.get(memberOf(partOf(token, 'header'), 'alg'))
  const octets = Buffer.from(signature, 'base64url')
  const bits = octets.length * 8
  if (scheme === undefined || bits >= LEAST_BITS) return undefined
  const signed = Buffer.from(`${header}.${payload}`)
  // If not, the length of the signature tells.
  const isChecked = publicKeysIn(document ?? '').some(
    ({ key }) => key.asymmetricKeyType === 'rsa' && isMadeBy(key, scheme, signed, octets),
  )
  return isChecked || SHORT_KEYS.has(bits) ? { bits, isChecked } : undefined
}

const SCHEMES = new Map<unknown, { readonly hash: string; readonly padding: number }>(
  ['256', '384', '512'].flatMap((size) => {
    const hash = `sha${size}`
    return [
      [`RS${size}`, { hash, padding: constants.RSA_PKCS1_PADDING }],
      [`PS${size}`, { hash, padding: constants.RSA_PKCS1_PSS_PADDING }],
    ] as const
  }),
)

function isMadeBy(
  key: KeyObject,
  scheme: { readonly hash: string; readonly padding: number },
  signed: Buffer,
  octets: Buffer,
) {
  try {
    return verify(scheme.hash, signed, { key, padding: scheme.padding }, octets)
  } catch {
    // The key is too short for the hash.
  }
  return false
}
