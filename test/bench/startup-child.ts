import { performance } from 'node:perf_hooks'

import type { PublicJwk } from './inputs.ts'

// One start-up, in a fresh process: node startup-child.ts SUBJECT KEYS, where KEYS is the JSON of a key and a token. Its
// answer is one line of JSON. Nothing is imported before it is measured, and keys are in hand: no network is in it.

export interface Startup {
  /** Of the import alone. Milliseconds. */
  readonly imported: number
  /** From the start of the process to the first verdict. Milliseconds. */
  readonly verdict: number
}

interface Keys {
  readonly jwk: PublicJwk
  readonly pem: string
  readonly token: string
  readonly issuer: string
  readonly audience: string
}

/** Imports, which is timed, and answers what verifies the token. */
type Load = () => Promise<(keys: Keys) => unknown>

const SUBJECTS: Readonly<Record<string, Load>> = {
  'bare `crypto.verify`': async () => {
    const { createPublicKey, verify } = await import('node:crypto')
    return ({ pem, token }) => {
      const end = token.lastIndexOf('.')
      const input = Buffer.from(token.slice(0, end))
      return verify(
        'sha512',
        input,
        createPublicKey(pem),
        Buffer.from(token.slice(end + 1), 'base64url'),
      )
    }
  },
  '@portcullis/core': async () => {
    const { createVerifier, localKeys } = await import('@portcullis/core')
    return async ({ jwk, token, issuer, audience }) =>
      await createVerifier({ keys: localKeys({ ...jwk }), issuer, audience }).verify(token)
  },
  jose: async () => {
    const { createLocalJWKSet, jwtVerify } = await import('jose')
    return async ({ jwk, token, issuer, audience }) =>
      await jwtVerify(token, createLocalJWKSet({ keys: [{ ...jwk }] }), { issuer, audience })
  },
  'fast-jwt': async () => {
    const { createVerifier } = await import('fast-jwt')
    return ({ pem, token, issuer, audience }): unknown =>
      createVerifier({ key: pem, allowedIss: issuer, allowedAud: audience })(token)
  },
  'aws-jwt-verify': async () => {
    const { JwtVerifier } = await import('aws-jwt-verify')
    return async ({ jwk, token, issuer, audience }) => {
      const verifier = JwtVerifier.create({ issuer, audience })
      verifier.cacheJwks({ keys: [{ ...jwk }] })
      return await verifier.verify(token)
    }
  },
  jsonwebtoken: async () => {
    const { default: jsonwebtoken } = await import('jsonwebtoken')
    return ({ pem, token, issuer, audience }) =>
      jsonwebtoken.verify(token, pem, { algorithms: ['RS512'], issuer, audience })
  },
}

export const STARTUPS = Object.keys(SUBJECTS)

const [subject, given] = process.argv.slice(2)
const load = SUBJECTS[subject ?? '']
if (load !== undefined && given !== undefined) {
  const keys = JSON.parse(given) as Keys // written by memory.ts
  const before = performance.now()
  const verify = await load()
  const imported = performance.now() - before
  const result = await verify(keys)
  if (result === false) throw new Error('refused')
  const startup: Startup = { imported, verdict: performance.now() }
  console.log(JSON.stringify(startup))
}
