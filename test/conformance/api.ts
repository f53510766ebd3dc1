import { createHash, X509Certificate } from 'node:crypto'
import { request as requestOverHttp } from 'node:http'

import {
  createVerifier,
  dpopProofs,
  type GuardOptions,
  localRevocations,
  mutualTls,
  scope,
  type Verifier,
} from '@portcullis/core'
import { createTestIssuer, dpopClient, manualClock } from '@portcullis/testing'

import { createCertificate } from '../certificate.ts'
import type { AppSpec } from '../frameworks/contract/frameworks/framework.ts'

// An API with the profile of FAPI 2.0, for every framework, and what is sent to it.

/** Where clients see it: port 443, which a proof may name or leave out. */
const ORIGIN = 'https://api.example.com'
const PATH = '/accounts'
export const RESOURCE = `${ORIGIN}${PATH}`

export const clock = manualClock()
export const issuer = await createTestIssuer({
  clock,
  algorithm: 'PS256',
  issuer: 'https://login.example.com',
  audience: ORIGIN,
})
export const revocations = localRevocations({ clock })
export const verifier: Verifier = createVerifier({
  ...issuer.verifierOptions,
  algorithms: ['PS256', 'ES256', 'EdDSA'],
  revocations,
})

using shown = createCertificate()
const digest = createHash('sha256').update(new X509Certificate(shown.cert).raw)
const [ofKey, ofCertificate] = [await dpopClient({ clock }), digest.digest()]
export const client = ofKey
/** As a proxy on this machine forwards it. */
export const certificate = { 'x-forwarded-client-cert': `Hash=${ofCertificate.toString('hex')}` }

const claims = { scope: 'accounts', jti: 'one' }
export const tokens = {
  byKey: await issuer.token({ boundTo: client, claims }),
  byCertificate: await issuer.token({
    claims: { ...claims, cnf: { 'x5t#S256': ofCertificate.toString('base64url') } },
  }),
  unbound: await issuer.token({ claims }),
}

const forwarded = mutualTls({
  header: 'X-Forwarded-Client-Cert',
  format: 'xfcc',
  proxies: ['127.0.0.1', '::1'],
})

/** A new memory of used proofs for each application. */
export function guarding(): GuardOptions {
  return {
    profile: 'fapi2',
    dpop: dpopProofs({ origin: ORIGIN, clock }),
    mutualTls: forwarded,
  }
}

const handle = () => ({ accounts: [] })

/** Its route needs the scope `accounts`, another one a scope that no client has. */
export function fapiApi(): AppSpec {
  return {
    guards: [{ verifier, options: guarding() }],
    routes: [
      { path: PATH, requirements: [scope('accounts')], handle },
      { path: '/payments', requirements: [scope('payments')], handle },
    ],
  }
}

export interface Sent {
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** @default '/accounts' */
  readonly target?: string
}

export interface Answered {
  readonly status: number
  readonly challenge: string | undefined
}

/** Not with `fetch`: names of headers keep their case, and a header can come twice. */
export async function send(url: string, { headers, target = PATH }: Sent): Promise<Answered> {
  return await new Promise((resolve, reject) => {
    const options = { headers: headers as Record<string, string | string[]>, path: target }
    requestOverHttp(url, options, (response) => {
      response.resume()
      const { statusCode: status = 0, headers: answered } = response
      resolve({ status, challenge: answered['www-authenticate'] })
    })
      .on('error', reject)
      .end()
  })
}
