import { encoded, ofHeaders, ofToken, type ProbeCase } from './cases.ts'
import { claimsIn } from './claims.ts'
import { ACCEPTED } from './kinds.ts'

// What is made of a token that is right: other texts of it, and texts that nothing proves any more.

/** @param isMinting Whether the issuer makes other texts of its own token. */
export function variantsOf(
  own: string,
  {
    forged,
    name,
    short,
    isMinting,
  }: {
    readonly forged: string
    readonly name: string
    readonly short: string
    readonly isMinting: boolean
  },
): readonly ProbeCase[] {
  const [header = '', payload = '', signature = ''] = own.split('.')
  const altered = { ...claimsIn(own), portcullis: 'probe' }
  const none = encoded({ alg: 'none', typ: 'JWT' })
  return [
    { ...ofHeaders(`${name}, "bearer"`, 'like_good', `bearer ${own}`), token: own },
    ofHeaders(`${name}, two headers`, 'two_headers', `Bearer ${own}`, `Bearer ${own}`),
    ofHeaders(`${name}, then a forged one`, 'two_headers', `Bearer ${own}`, `Bearer ${forged}`),
    ofHeaders(`a forged one, then ${name}`, 'forged_first', `Bearer ${forged}`, `Bearer ${own}`),
    ofToken(`${short}, other signature`, 'unproven', `${header}.${payload}.${changed(signature)}`),
    ofToken(`${short}, other claims`, 'unproven', `${header}.${encoded(altered)}.${signature}`),
    ofToken(`${short}, alg none`, 'unproven', `${none}.${payload}.`),
    ...(isMinting
      ? []
      : [
          ofText(`${short}, four segments`, `${own}.${signature}`, own),
          ofText(`${short}, padded base64`, `${own}==`, own),
        ]),
  ]
}

function ofText(name: string, token: string, right: string): ProbeCase {
  const check = 'form of the token'
  const accepted = ACCEPTED.form
  const wrong = { name, token, check, accepted, right } as const
  return { ...ofToken(name, 'wrong', token), check, accepted, wrong: { ...wrong, isMade: true } }
}

function changed(signature: string): string {
  const octets = Buffer.from(signature, 'base64url')
  return Buffer.from(octets.map((octet, at) => (at === 9 ? octet ^ 1 : octet))).toString(
    'base64url',
  )
}
