import { createHash, generatePrimeSync, type JsonWebKey } from 'node:crypto'

import { encode, type Signer } from './signers.ts'

const PRIME_BITS = 256

/**
 * An RSA key of about any size and with any exponent, which `node:crypto` would not generate or not soon. Its modulus
 * has many short primes, so that key and signatures take milliseconds: that no verifier can see.
 */
export function craftedRsa(bits: number, e: bigint): Signer {
  const primes = findPrimes(bits, e)
  const n = primes.reduce((product, prime) => product * prime, 1n)
  const length = Math.ceil(n.toString(2).length / 8)
  const jwk = { kty: 'RSA', n: encode(octetsOf(n)), e: encode(octetsOf(e)) } satisfies JsonWebKey
  return {
    alg: 'RS512',
    publicJwk: { ...jwk, kid: `${n.toString(2).length} bits, e ${e}` },
    sign: (signingInput) => octetsOf(root(paddedDigest(signingInput, length), e, primes), length),
  }
}

/** Primes that allow the exponent, the last as long as what is missing. */
function findPrimes(bits: number, e: bigint): readonly bigint[] {
  const lengths = Array.from({ length: Math.floor(bits / PRIME_BITS) }, () => PRIME_BITS)
  const rest = bits % PRIME_BITS
  return (rest < 16 ? lengths : [...lengths, rest]).map((length) => {
    for (;;) {
      const prime = generatePrimeSync(length, { bigint: true })
      if (greatestCommonDivisor(e, prime - 1n) === 1n) return prime
    }
  })
}

/** EMSA-PKCS1-v1_5 with SHA-512: RFC 8017 section 9.2. */
function paddedDigest(signingInput: string, length: number): bigint {
  const digestInfo = Buffer.concat([
    Buffer.from('3051300d060960864801650304020305000440', 'hex'),
    createHash('sha512').update(signingInput).digest(),
  ])
  const padding = Buffer.alloc(length - digestInfo.length - 3, 0xff)
  return integerOf(Buffer.concat([Buffer.of(0, 1), padding, Buffer.of(0), digestInfo]))
}

/** The e-th root modulo the product of the primes, found modulo each: RFC 8017 section 5.1.2. */
function root(value: bigint, e: bigint, primes: readonly bigint[]): bigint {
  let result = 0n
  let modulus = 1n
  for (const prime of primes) {
    const part = power(value % prime, inverse(e, prime - 1n), prime)
    const step = ((part - (result % prime) + prime) * inverse(modulus, prime)) % prime
    result += modulus * step
    modulus *= prime
  }
  return result
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus
    if (bit === '1') result = (result * base) % modulus
  }
  return result
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [older, newer] = [modulus, ((value % modulus) + modulus) % modulus]
  let [olderFactor, newerFactor] = [0n, 1n]
  while (newer !== 0n) {
    const quotient = older / newer
    ;[older, newer] = [newer, older - quotient * newer]
    ;[olderFactor, newerFactor] = [newerFactor, olderFactor - quotient * newerFactor]
  }
  return ((olderFactor % modulus) + modulus) % modulus
}

function greatestCommonDivisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : greatestCommonDivisor(other, one % other)
}

function integerOf(octets: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(octets).toString('hex')}`)
}

function octetsOf(integer: bigint, length = 0): Buffer {
  const hex = integer.toString(16)
  return Buffer.from(hex.padStart(Math.max(2 * length, hex.length + (hex.length % 2)), '0'), 'hex')
}
