import { type Clock, createTestIssuer, tokenService } from '@portcullis/testing'

export const ISSUER = 'https://login.example.com'
const METADATA = `${ISSUER}/.well-known/openid-configuration`
const OTHER_METADATA = `${ISSUER}/.well-known/oauth-authorization-server`
const KEYS = `${ISSUER}/jwks`

/** What the provider answers in place of its own. */
interface Faults {
  readonly metadata?: () => Response | Promise<Response>
  /** What is at the place of RFC 8414. */
  readonly others?: () => Response
  readonly keys?: () => Response
}

/** An identity provider with metadata in the process, and a log of what it was asked for. */
export async function createProvider(clock: Clock) {
  const issuer = await createTestIssuer({ clock, issuer: ISSUER, audience: 'api' })
  const service = tokenService(issuer)
  const asked: string[] = []
  const fetchWith =
    ({ metadata, others, keys }: Faults = {}): typeof globalThis.fetch =>
    async (input, init) => {
      const url = input instanceof Request ? input.url : new URL(input).href
      asked.push(url)
      if (url === METADATA) {
        return (await metadata?.()) ?? Response.json({ issuer: ISSUER, jwks_uri: KEYS })
      }
      if (url === KEYS) return keys?.() ?? (await service.fetch(service.keyUrl, init))
      if (url === OTHER_METADATA && others !== undefined) return others()
      return new Response('', { status: 404 })
    }
  return { issuer, asked, fetchWith, metadataUrl: METADATA, keyUrl: KEYS }
}

/** Why the keys of an issuer cannot be had, what is said of it, and what the program ends with. */
export const FAULTS: readonly (readonly [
  what: string,
  faults: Faults,
  said: RegExp,
  exitCode: number,
])[] = [
  [
    'unreachable',
    { metadata: async () => await Promise.reject(new TypeError('down')) },
    /unreachable.*the metadata URL answered 404/,
    3,
  ],
  ['not JSON', { metadata: () => new Response('<html>') }, /bad_document.*is not JSON/, 1],
  [
    'of another issuer',
    { metadata: () => Response.json({ issuer: 'https://evil.example', jwks_uri: KEYS }) },
    /bad_document.*the metadata are of another issuer/,
    1,
  ],
  [
    'written with a slash at the end',
    { metadata: () => Response.json({ issuer: `${ISSUER}/`, jwks_uri: KEYS }) },
    /bad_document.*with a slash at the end: write it so after --discover/,
    1,
  ],
  [
    'without a key URL',
    { metadata: () => Response.json({ issuer: ISSUER }) },
    /bad_document.*no usable key URL/,
    1,
  ],
  [
    'without a usable key',
    { keys: () => Response.json({ keys: [{ kty: 'oct', k: 'AA' }] }) },
    /bad_document.*no usable key/,
    1,
  ],
]
