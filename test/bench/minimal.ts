import { type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto'

import { AUDIENCE, ISSUER } from './inputs.ts'

// The least that can be called a verifier: what a careful person writes by hand in twenty lines. It is here to show what
// the checks of a token cost beside its signature, and what the rest of Portcullis costs beside them.

/** The parts of a token whose header names the right algorithm. */
interface Parts {
  readonly signingInput: Buffer
  readonly payload: string
  readonly signature: Buffer
}

export function verifyMinimally(token: string, key: KeyObject): unknown {
  const { signingInput, payload, signature } = take(token)
  if (!verify('sha512', signingInput, key, signature)) throw new Error('signature')
  return check(payload)
}

export async function verifyMinimallyInPool(token: string, key: KeyObject): Promise<unknown> {
  const { signingInput, payload, signature } = take(token)
  if (!(await verifyInPool('sha512', signingInput, key, signature))) throw new Error('signature')
  return check(payload)
}

/** With a callback, `crypto.verify` runs on the thread pool. */
export async function verifyInPool(
  hash: string | null,
  signingInput: Buffer,
  key: KeyObject | VerifyKeyObjectInput,
  signature: Buffer,
): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    verify(hash, signingInput, key, signature, (error, isProven) => {
      if (error === null) resolve(isProven)
      else reject(error)
    })
  })
}

function take(token: string): Parts {
  const [header = '', payload = '', signature = '', ...others] = token.split('.')
  if (others.length > 0 || member(parse(header), 'alg') !== 'RS512') throw new Error('malformed')
  return {
    signingInput: Buffer.from(token.slice(0, token.lastIndexOf('.'))),
    payload,
    signature: Buffer.from(signature, 'base64url'),
  }
}

function check(payload: string): unknown {
  const claims = parse(payload)
  const expiry = member(claims, 'exp')
  if (typeof expiry !== 'number' || Date.now() / 1000 >= expiry) throw new Error('expired')
  if (member(claims, 'iss') !== ISSUER) throw new Error('issuer')
  if (member(claims, 'aud') !== AUDIENCE) throw new Error('audience')
  return claims
}

function parse(segment: string): unknown {
  return JSON.parse(Buffer.from(segment, 'base64url').toString())
}

function member(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name)
}
