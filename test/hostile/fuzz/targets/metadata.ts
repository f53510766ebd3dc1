import { isJsonObject } from '@portcullis/kit/json'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'

import { discoverKeys } from '../../../../packages/core/src/keys/discovery.ts'
import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { jsonObject, jsonText, mostly, octetsOf, parseJson } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const ISSUER = 'https://issuer.example'

const loose = fc
  .tuple(
    fc.constantFrom('https:', 'http:', 'HTTPS:', 'file:', 'data:', ''),
    fc.constantFrom('//', '/', '\\\\', ''),
    fc.constantFrom('user:pass@', '@', ''),
    fc.constantFrom('127.0.0.1', 'localhost', '[::1]', '0x7f.1', 'localhost.', 'keys.example'),
    fc.oneof(fc.string(), fc.constantFrom('/keys', '#k', '\n')),
  )
  .map((parts) => parts.join(''))

/** What an authorization server says of itself (RFC 8414): it names the URL that keys are then fetched from. */
export const metadata: FuzzTarget = {
  inputs: jsonText(
    jsonObject({
      issuer: fc.constantFrom(ISSUER, `${ISSUER}/`, 'https://other.example'),
      jwks_uri: mostly(fc.webUrl({ withFragments: true, withQueryParameters: true }), loose),
    }),
  ),
  async run(input) {
    const fetched: string[] = []
    const keys = discoverKeys(ISSUER, {
      clock: manualClock(),
      async fetch(url) {
        fetched.push(url)
        return new Response(url.includes('/.well-known/o') ? octetsOf(input) : 'null')
      },
    })
    await keys.refresh().catch((error: unknown) => {
      if (!(error instanceof AuthError) || error.code !== 'keys_unavailable') throw error
    })
    const beyond = fetched.filter((url) => !url.startsWith(`${ISSUER}/.well-known/o`))
    // A decoder as `fetch` uses them: it leaves a byte order mark out.
    const text = new TextDecoder().decode(octetsOf(input))
    for (const url of beyond) expectNamed(url, parseJson(text))
  },
}

/** The one URL that the metadata name, and only if they are this issuer's. */
function expectNamed(url: string, document: unknown): void {
  hold(isJsonObject(document) && document['issuer'] === ISSUER, 'the metadata are of this issuer')
  const { protocol, hostname, username, password, hash } = new URL(url)
  hold(
    protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname),
    'keys come over https',
  )
  hold(username === '' && password === '' && hash === '', 'the URL has no credentials')
  const named = new URL(String(document['jwks_uri']))
  named.hash = ''
  hold(url === named.href, 'the URL is the one that is named')
}
