import { randomUUID } from 'node:crypto'

import { dpopClient, type ProofOptions } from '@portcullis/testing'

import { type Answered, client, clock, RESOURCE, send, type Sent, tokens } from './api.ts'

// What the module FAPI2SPFinalDpopNegativeTests of the OpenID Foundation's suite sends to a resource endpoint, and what it expects.

const { byKey } = tokens

type Changes = Partial<ProofOptions>

async function proofWith(changes: Changes = {}): Promise<string> {
  return await client.proof({ url: RESOURCE, token: byKey, ...changes })
}

export async function proven(changes: Changes = {}, token: string = byKey): Promise<Sent> {
  const dpop = await proofWith({ token, ...changes })
  return { headers: { authorization: `DPoP ${token}`, dpop } }
}

/** A proof that the module sends, and what it expects of the endpoint: 200, or 400 and 401. */
type Condition = readonly [
  name: string,
  expected: 'accepted' | 'refused',
  sent: (url: string) => Promise<Sent>,
]

const changed =
  (changes: Changes): (() => Promise<Sent>) =>
  async () =>
    await proven(changes)
const textChanged =
  (change: (parts: readonly [string, string, string]) => string): (() => Promise<Sent>) =>
  async () => {
    const parts = (await proofWith()).split('.') as [string, string, string] // a JWS
    return { headers: { authorization: `DPoP ${byKey}`, dpop: change(parts) } }
  }
const missing = (...omit: readonly string[]) => changed({ omit })
const HOUR = 3600

export const NEGATIVE: readonly Condition[] = [
  [
    'the header in capitals',
    'accepted',
    async () => ({ headers: { authorization: `DPoP ${byKey}`, DPOP: await proofWith() } }),
  ],
  [
    'two headers',
    'refused',
    async () => ({
      headers: { authorization: `DPoP ${byKey}`, dpop: [await proofWith(), await proofWith()] },
    }),
  ],
  ['two of three parts', 'refused', textChanged(([header, payload]) => `${header}.${payload}`)],
  ['no typ', 'refused', missing('typ')],
  [
    'no alg',
    'refused',
    textChanged(([header, payload, signature]) =>
      [withoutAlg(header), payload, signature].join('.'),
    ),
  ],
  ['no jwk', 'refused', missing('jwk')],
  ['no jti', 'refused', missing('jti')],
  ['no htm', 'refused', missing('htm')],
  ['no htu', 'refused', missing('htu')],
  ['no iat', 'refused', missing('iat')],
  ['no ath', 'refused', changed({ token: undefined })],
  ['another typ', 'refused', changed({ header: { typ: 'dpop+jwt+other' } })],
  ['an RSA key and RS256', 'refused', async () => await byStranger('RS256')],
  [
    'alg none',
    'refused',
    textChanged(
      ([, payload]) =>
        `${Buffer.from('{"alg":"none","typ":"dpop+jwt"}').toString('base64url')}.${payload}.`,
    ),
  ],
  [
    'a wrong signature',
    'refused',
    textChanged(
      ([header, payload, signature]) => `${header}.${payload}.${'A'.repeat(signature.length)}`,
    ),
  ],
  [
    'a private key in jwk',
    'refused',
    changed({ header: { jwk: { ...client.publicJwk, d: 'A'.repeat(43) } } }),
  ],
  ['another htm', 'refused', changed({ claims: { htm: 'PUT' } })],
  ['query and fragment in htu', 'accepted', changed({ claims: { htu: `${RESOURCE}?a=1#b` } })],
  [
    'no query in htu, one in the request',
    'accepted',
    async () => ({ ...(await proven()), target: '/accounts?a=1' }),
  ],
  ['another htu', 'refused', changed({ claims: { htu: 'https://other.example.com/accounts' } })],
  ['iat an hour ahead', 'refused', changed({ claims: { iat: clock.now() + HOUR } })],
  ['iat an hour ago', 'refused', changed({ claims: { iat: clock.now() - HOUR } })],
  ['a jti for the first time', 'accepted', changed({ claims: { jti: randomUUID() } })],
  ['the same jti again', 'refused', sentTwice],
  ['another ath', 'refused', changed({ claims: { ath: 'A'.repeat(43) } })],
  ['another key', 'refused', async () => await byStranger('ES256')],
  [
    'members that nobody knows',
    'accepted',
    changed({ header: { tx_id: 1 }, claims: { tx_id_key: 1 } }),
  ],
  [
    'htu in capitals up to the path',
    'accepted',
    changed({ claims: { htu: 'HTTPS://API.EXAMPLE.COM/accounts' } }),
  ],
  [
    'htu with the default port',
    'accepted',
    changed({ claims: { htu: 'https://api.example.com:443/accounts' } }),
  ],
  ['no proof', 'refused', async () => ({ headers: { authorization: `DPoP ${byKey}` } })],
  [
    'no proof, and the scheme Bearer',
    'refused',
    async () => ({ headers: { authorization: `Bearer ${byKey}` } }),
  ],
  ['a proof as it should be, in the end', 'accepted', changed({})],
]

function withoutAlg(header: string): string {
  const text = Buffer.from(header, 'base64url').toString().replace('"alg"', '"alg2"')
  return Buffer.from(text).toString('base64url')
}

async function byStranger(algorithm: 'ES256' | 'RS256'): Promise<Sent> {
  const stranger = await dpopClient({ clock, algorithm })
  return { headers: { ...(await stranger.headers({ url: RESOURCE, token: byKey })) } }
}

async function sentTwice(url: string): Promise<Sent> {
  const claims = { jti: randomUUID() }
  await send(url, await proven({ claims }))
  // Another proof, with another time.
  return await proven({ claims: { ...claims, iat: clock.now() - 1 } })
}

/** The module takes 400 and 401; a challenge is ours. */
export function verdictOf({ status, challenge }: Answered): string {
  if (status === 200) return 'accepted'
  const isRefusal = [400, 401].includes(status) && challenge !== undefined
  return isRefusal ? 'refused' : `${status}`
}
