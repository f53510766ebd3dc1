import { createPrivateKey, sign } from 'node:crypto'
import { request } from 'node:http'

import { byIssuer, createVerifier, dpopProofs, remoteKeys } from '@portcullis/core'
import { createTestIssuer, dpopClient, manualClock, tokenService } from '@portcullis/testing'

import { adapterOf } from '../../../frameworks/contract/frameworks/adapter-of.ts'
import { answered, collect } from './program.ts'
import { encoded, HEADER_TEXTS, PROOF_TEXTS } from './texts.ts'

// A program: it serves the applications of one adapter, and sends them hostile headers, payloads and proofs.

/** Shared by the versions of a framework: 46 requests each. */
const ROUNDS = 24
const ISSUER = 'https://auth.test'
const ORIGIN = 'https://api.test'

const clock = manualClock()
const issuer = await createTestIssuer({ clock, issuer: ISSUER })
const client = await dpopClient({ clock })
const token = await issuer.token()
const bound = await issuer.token({ boundTo: client })
const verifier = verifierFor(null)
const tenants = byIssuer({ [ISSUER]: verifierFor(ISSUER) })
const dpop = dpopProofs({ origin: ORIGIN, clock })

const { frameworks } = await adapterOf(process.argv[2] ?? '')
for (const { name, createApp } of frameworks) {
  const routes = [{ path: '/', handle: () => ({}) }]
  await using app = await createApp({
    silent: true,
    routers: {
      '/plain': { guards: [{ verifier }], routes },
      '/tenants': { guards: [{ verifier: tenants }], routes },
      '/bound': { guards: [{ verifier, options: { dpop } }], routes },
    },
  })
  const get = async (path: string, headers: Readonly<Record<string, string>>) =>
    await statusOf(`${app.url}${path}`, headers)
  const attacks = [
    ...HEADER_TEXTS.flatMap((text) =>
      [`${encoded(text)}.e30.AAAA`, `${encoded('{"alg":"RS512"}')}.${encoded(text)}.AAAA`].flatMap(
        (each) => ['/plain', '/tenants'].map((path) => ({ path, headers: bearer(each) })),
      ),
    ),
    ...PROOF_TEXTS.flatMap((text) => [`${encoded(text)}.e30.AAAA`, proofSaying(text)]).map(
      (proof) => ({ path: '/bound', headers: { authorization: `DPoP ${bound}`, dpop: proof } }),
    ),
  ]
  for (let round = 0; round < ROUNDS / frameworks.length; round++) {
    for (const { path, headers } of attacks) answered(name, 'hostile', await get(path, headers))
    if (round % 4 === 3) collect()
  }
  const own = await client.headers({ url: `${ORIGIN}/bound`, token: bound })
  answered(name, 'sound', await get('/plain', bearer(token)))
  answered(name, 'sound', await get('/tenants', bearer(token)))
  answered(name, 'sound', await get('/bound', own))
}

function verifierFor(stated: string | null) {
  const { keyUrl, fetch } = tokenService(issuer)
  const keys = remoteKeys(keyUrl, { fetch, clock })
  return createVerifier({ keys, issuer: stated, audience: null, clock })
}

function bearer(text: string): { readonly authorization: string } {
  return { authorization: `Bearer ${text}` }
}

/** A proof that its own key has signed: its payload is read. The key is of RFC 8037, appendix A.1. */
function proofSaying(payload: string): string {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
  const d = 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A'
  const key = createPrivateKey({ key: { ...jwk, d }, format: 'jwk' })
  const header = JSON.stringify({ typ: 'dpop+jwt', alg: 'Ed25519', jwk })
  const input = `${encoded(header)}.${encoded(payload)}`
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
}

async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return await new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode ?? 0)
      })
    })
      .on('error', reject)
      .end()
  })
}
