import { createVerifier, remoteKeys } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { createTestIssuer, type TestIssuer } from '../../src/issuer.ts'
import type { PrivateKeys } from '../../src/keys/private-keys.ts'
import { tokenService } from '../../src/token-service.ts'

const algorithm = 'ES256'

async function documentOf(issuer: TestIssuer): Promise<unknown> {
  const { fetch, keyUrl } = tokenService(issuer)
  return await (await fetch(keyUrl)).json()
}

/** The issuer of a later run. Its keys have been in a file. */
async function restarted(issuer: TestIssuer): Promise<TestIssuer> {
  const text = JSON.stringify(await issuer.privateKeys())
  return await createTestIssuer({ algorithm, key: JSON.parse(text) as PrivateKeys })
}

describe.each(['new', 'same', 'none'] as const)('after a restart, kid %s', (kid) => {
  test.each(['now', 'first', 'later', 'both'] as const)(
    'a rotation goes on where it was, publish %s',
    async (publish) => {
      const before = await createTestIssuer({ algorithm })
      const rotation = await before.rotate({ kid, publish })
      const after = await restarted(before)
      expect(await documentOf(after)).toEqual(await documentOf(before))
      expect(after.publicJwk).toEqual(before.publicJwk)
      expect(after.pendingRotation()?.next).toBe(before.pendingRotation()?.next)
      rotation.complete()
      after.pendingRotation()?.complete()
      expect(await documentOf(after)).toEqual(await documentOf(before))
      expect(after.publicJwk).toEqual(before.publicJwk)
      expect(after.pendingRotation()).toBeUndefined()
      const { fetch, keyUrl } = tokenService(after)
      const { verifierOptions } = after
      const verifier = createVerifier({ ...verifierOptions, keys: remoteKeys(keyUrl, { fetch }) })
      await expect(verifier.verify(await before.token())).resolves.toBeDefined()
    },
  )
})

test('a rotation within another is kept as well', async () => {
  const before = await createTestIssuer({ algorithm })
  await before.rotate({ publish: 'both' })
  await before.rotate({ publish: 'later' })
  const after = await restarted(before)
  expect(await documentOf(after)).toEqual(await documentOf(before))
  expect(await after.privateKeys()).toEqual(await before.privateKeys())
  const published = before.keyPhases().map((key) => key.published.at(-1))
  // Both keys of the set are still in the document.
  expect(published.filter((phase) => phase && phase.until === undefined)).toHaveLength(2)
})

test.each([
  ['now', undefined],
  ['first', 'sign'],
  ['later', 'publish'],
  ['both', 'withdraw'],
] as const)('publish %s: the rotation says that its second step is %s', async (publish, next) => {
  const issuer = await createTestIssuer({ algorithm })
  const rotation = await issuer.rotate({ publish })
  expect(rotation.next).toBe(next)
  expect(issuer.pendingRotation()?.next).toBe(next)
  rotation.complete()
  expect(rotation.next).toBeUndefined()
})

test('a rotation after which the issuer has rotated again has no step left', async () => {
  const issuer = await createTestIssuer({ algorithm })
  const rotation = await issuer.rotate({ publish: 'first' })
  await issuer.rotate({ publish: 'later' })
  expect(rotation.next).toBeUndefined()
  expect(issuer.pendingRotation()?.next).toBe('publish')
})

test('a pending rotation is completed once, and not after a roll-back', async () => {
  const issuer = await createTestIssuer({ algorithm })
  expect(issuer.pendingRotation()).toBeUndefined()
  await issuer.rotate({ publish: 'later' })
  const pending = issuer.pendingRotation()
  issuer.rollBack()
  expect(() => pending?.complete()).toThrow('the issuer has rotated again since, or rolled back')
})

describe('what is none of it is refused, and not shown', async () => {
  const keys = await (await createTestIssuer({ algorithm })).privateKeys()
  const { signing } = keys

  test.each<[name: string, key: object]>([
    ['no published key', { ...keys, published: [] }],
    ['a list that is none', { ...keys, published: signing }],
    ['two keys of one bare document', { ...keys, published: [signing, signing] }],
    ['three keys', { ...keys, isSet: true, published: [signing, signing, signing] }],
    ['a second half that there is not', { ...keys, pending: 'secret' }],
    ['a public key that signs', { ...keys, signing: { ...signing, d: undefined } }],
  ])('%s', async (_name, key) => {
    const created = createTestIssuer({ algorithm, key: key as PrivateKeys })
    await expect(created).rejects.toThrow(/^createTestIssuer: key must be a private key for ES256/)
    await expect(created).rejects.not.toThrow(/secret/)
  })
})
