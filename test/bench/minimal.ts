import { type KeyObject, verify } from 'node:crypto'

import { AUDIENCE, ISSUER } from './inputs.ts'

// The least that can be called a verifier: what a careful person writes by hand in twenty lines. It is here to show what
// the checks of a token cost beside its signature, and what the rest of Portcullis costs beside them.

export function verifyMinimally(token: string, key: KeyObject): unknown {
  const [header = '', payload = '', signature = '', ...others] = token.split('.')
  if (others.length > 0 || member(parse(header), 'alg') !== 'RS512') throw new Error('malformed')
  const signingInput = Buffer.from(token.slice(0, token.lastIndexOf('.')))
  const octets = Buffer.from(signature, 'base64url')
  if (!verify('sha512', signingInput, key, octets)) throw new Error('signature')
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
