import { generateKeyPairSync, sign } from 'node:crypto'

import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import {
  type Algorithm,
  type AuthError,
  createVerifier,
  discoverKeys,
  type KeySource,
  localKeys,
  remoteKeys,
  type VerifierOptions,
} from '../../src/index.ts'

const clock = manualClock()
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = publicKey.export({ format: 'jwk' })
const algorithmNames = { RSA512: 'RS512' } as const
const ISSUER = 'https://auth.test'

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function tokenWith(header: object, hash = 'sha512'): string {
  const input = `${encode(header)}.${encode({ iss: ISSUER, exp: clock.now() + 300 })}`
  return `${input}.${sign(hash, Buffer.from(input), privateKey).toString('base64url')}`
}

function verifierOf(options: Partial<VerifierOptions> = {}) {
  return createVerifier({ keys: localKeys(jwk), issuer: null, audience: null, clock, ...options })
}

async function reasonOf(verdict: Promise<unknown>): Promise<string | undefined> {
  return await verdict.then(
    () => undefined,
    (error: unknown) => (error as AuthError).reason,
  )
}

describe('algorithmNames: the header of a token says RSA512', () => {
  const token = tokenWith({ alg: 'RSA512', kid: 'k' })

  test('it is refused unless that is stated', async () => {
    expect(await reasonOf(verifierOf().verify(token))).toBe('algorithm')
  })

  test('it is verified as RS512, and the header stays as signed', async () => {
    const { header } = await verifierOf({ algorithmNames }).verify(token)
    expect(header).toEqual({ alg: 'RSA512', kid: 'k' })
  })

  test('it is remembered like any other, for as long as its key is trusted for RS512', async () => {
    const documents: object[] = [jwk]
    const keys = remoteKeys('https://auth.test/keys', {
      clock,
      fetch: async () => Response.json(documents.at(-1)),
    })
    const verifier = verifierOf({ keys, algorithmNames })
    const first = await verifier.verify(token)
    const second = await verifier.verify(token)
    expect(second.claims).toBe(first.claims)
    await clock.advance(2)
    documents.push({ ...jwk, alg: 'RS256' })
    await keys.refresh()
    expect(await reasonOf(verifier.verify(token))).toBe('algorithm')
  })

  test('a signature of another algorithm is refused', async () => {
    const verifier = verifierOf({ algorithmNames, algorithms: ['RS512', 'RS256'] })
    expect(await reasonOf(verifier.verify(tokenWith({ alg: 'RSA512' }, 'sha256')))).toBe(
      'signature',
    )
  })

  test('it is refused where the algorithm that it means is not listed', async () => {
    const verifier = verifierOf({ algorithmNames, algorithms: ['RS256'] })
    expect(await reasonOf(verifier.verify(token))).toBe('algorithm')
  })

  test('a wrong option is a TypeError at start-up', () => {
    const wrong = { none: 'RS512' } as Record<string, Algorithm>
    expect(() => verifierOf({ algorithmNames: wrong })).toThrow(
      new TypeError(
        'createVerifier: algorithmNames must not give another meaning to "none", a name of JOSE',
      ),
    )
    const url = 'https://auth.test/keys'
    expect(() => remoteKeys(url, { algorithmNames: wrong })).toThrow(/^remoteKeys: algorithmNames/)
    expect(() => discoverKeys(ISSUER, { algorithmNames: wrong })).toThrow(
      /^discoverKeys: algorithmNames/,
    )
  })
})

describe('algorithmNames: a key says RSA512', () => {
  const token = tokenWith({ alg: 'RS512' })
  const named = { ...jwk, alg: 'RSA512' }

  async function fetchDocument(url: string) {
    const isMetadata = url.includes('.well-known')
    return Response.json(isMetadata ? { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` } : named)
  }

  test.each<[string, (names?: typeof algorithmNames) => KeySource]>([
    ['remoteKeys', (names) => remoteKeys(`${ISSUER}/keys`, { ...optionsWith(names), clock })],
    ['discoverKeys', (names) => discoverKeys(ISSUER, { ...optionsWith(names), clock })],
  ])('%s uses it where that is stated, and says so where it is not', async (_name, source) => {
    expect(await reasonOf(verifierOf({ keys: source() }).verify(token))).toBe('bad_document')
    const keys = source(algorithmNames)
    await expect(verifierOf({ keys }).verify(token)).resolves.toBeDefined()
  })

  test('status() names the option', async () => {
    const keys = remoteKeys(`${ISSUER}/keys`, { fetch: fetchDocument, clock })
    await expect(keys.refresh()).rejects.toMatchObject({ reason: 'bad_document' })
    expect(keys.status().lastFailure?.detail).toBe(
      'the document has no usable key: alg (RSA512) is not RS256 or RS384 or RS512 or PS256 or PS384 or PS512, unless ' +
        'algorithmNames is { "RSA512": "RS512" }',
    )
  })

  function optionsWith(names: typeof algorithmNames | undefined) {
    return { fetch: fetchDocument, algorithmNames: names }
  }
})

describe('a header with a kid or a typ of null', () => {
  const named = { keys: [{ ...jwk, kid: 'k' }] }

  test('is read as if it had none, also when it comes again, and stays as signed', async () => {
    const verifier = verifierOf({ keys: localKeys(named) })
    const token = tokenWith({ alg: 'RS512', kid: null, typ: null })
    for (let time = 0; time < 2; time++) {
      const { header } = await verifier.verify(token)
      expect(header).toEqual({ alg: 'RS512', kid: null, typ: null })
    }
  })

  test('is remembered when the ring was fetched anew', async () => {
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
    let document: object = named
    const keys = remoteKeys('https://auth.test/keys', {
      clock,
      fetch: async () => Response.json(document),
    })
    const verifier = verifierOf({ keys })
    const token = tokenWith({ alg: 'RS512', kid: null })
    const { claims } = await verifier.verify(token)
    document = { keys: [...named.keys, other] }
    await clock.advance(2)
    await keys.refresh()
    expect((await verifier.verify(token)).claims).toBe(claims)
  })

  test('is of no type', async () => {
    const verifier = verifierOf({ type: 'at+jwt' })
    const token = tokenWith({ alg: 'RS512', typ: null })
    expect(await reasonOf(verifier.verify(token))).toBe('type')
  })
})
